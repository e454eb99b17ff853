import { Command } from '@nestjs/cqrs';
import type { AnsweredLogin } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';

/** A person lets the program act as them that shows a code. */
export class ApproveProgram extends Command<AnsweredLogin> {
  constructor(
    readonly person: Pick<SignedIn, 'id' | 'sessionId' | 'authenticatedAt'>,
    readonly commandId: string,
    /** As it was typed. */
    readonly code: string,
  ) {
    super();
  }
}
