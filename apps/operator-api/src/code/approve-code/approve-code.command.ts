import { Command } from '@nestjs/cqrs';
import type { AnsweredCode } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';

/** A person lets in the installation that shows a code. */
export class ApproveShortCode extends Command<AnsweredCode> {
  constructor(
    readonly person: Pick<SignedIn, 'id' | 'sessionId'>,
    readonly commandId: string,
    /** As it was typed. */
    readonly code: string,
    readonly name: string | null,
    /** A machine of the node that is to get its next one, as the person calls it; null for a node not seen before. */
    readonly node: string | null,
  ) {
    super();
  }
}
