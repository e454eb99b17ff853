import { Command } from '@nestjs/cqrs';
import type { AutomationTokenView } from '@rollcall/wire';

/** A person registers the hash of a token that their tool made for a program. */
export class IssueAutomationToken extends Command<AutomationTokenView> {
  constructor(
    readonly personId: string,
    /** Also the token's id. */
    readonly commandId: string,
    readonly tokenHash: string,
    readonly name: string,
    readonly scopes: readonly string[],
    /** Seconds. */
    readonly expiresIn: number,
  ) {
    super();
  }
}
