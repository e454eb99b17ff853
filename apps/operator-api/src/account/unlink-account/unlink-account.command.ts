import { Command } from '@nestjs/cqrs';

/** A person ends the link of an account to them. */
export class UnlinkAccountOf extends Command<void> {
  constructor(
    readonly personId: string,
    readonly accountId: string,
  ) {
    super();
  }
}
