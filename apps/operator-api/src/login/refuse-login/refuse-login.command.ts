import { Command } from '@nestjs/cqrs';
import type { AnsweredLogin } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';

/** A person refuses the program that shows a code. */
export class RefuseProgram extends Command<AnsweredLogin> {
  constructor(
    readonly person: Pick<SignedIn, 'id' | 'sessionId'>,
    readonly commandId: string,
    /** As it was typed. */
    readonly code: string,
  ) {
    super();
  }
}
