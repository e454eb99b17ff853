import { Command } from '@nestjs/cqrs';
import type { IssueTokenAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';

/** How long a token can be used where nobody says, in seconds. */
export const TOKEN_LIFE_SECONDS = 900;

/** A person registers the hash of an enrolment token that their tool made, or of the credential of a machine to come. */
export class IssueEnrolmentToken extends Command<IssueTokenAnswer> {
  constructor(
    readonly person: Pick<SignedIn, 'id' | 'sessionId'>,
    readonly commandId: string,
    /** SHA-256, hex. */
    readonly secret: { readonly hash: string; readonly preadmits: boolean },
    readonly name: string | null,
    /** A machine of the node that is to get its next one, as the person calls it; null for a node not seen before. */
    readonly node: string | null,
    /** Seconds. */
    readonly expiresIn: number,
  ) {
    super();
  }
}
