import { Command } from '@nestjs/cqrs';

/** A person ends the session that they use. */
export class SignOut extends Command<void> {
  constructor(
    readonly personId: string,
    readonly sessionId: string,
  ) {
    super();
  }
}
