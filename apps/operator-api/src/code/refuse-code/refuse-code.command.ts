import { Command } from '@nestjs/cqrs';
import type { AnsweredCode } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';

/** A person refuses the installation that shows a code. */
export class RefuseShortCode extends Command<AnsweredCode> {
  constructor(
    readonly person: Pick<SignedIn, 'id' | 'sessionId'>,
    readonly commandId: string,
    /** As it was typed. */
    readonly code: string,
  ) {
    super();
  }
}
