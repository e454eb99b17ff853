import { Command } from '@nestjs/cqrs';

/** A person ends what a program may do for them. */
export class RevokeAutomationToken extends Command<void> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    readonly tokenId: string,
  ) {
    super();
  }
}
