import { Command } from '@nestjs/cqrs';
import type { SelfReport } from '@rollcall/machine';
import type { CodeAnswer } from '@rollcall/wire';

/** An installation without a token asks to be let in. */
export class RequestShortCode extends Command<CodeAnswer> {
  constructor(
    /** SHA-256, hex. */
    readonly identifierHash: string,
    /** SHA-256, hex. */
    readonly credentialHash: string,
    readonly report: SelfReport,
  ) {
    super();
  }
}
