// Ledger events of the category `token`, one stream per enrolment token. The actor is the person who issues it.

/** A person registered the hash of a token that their CLI made (N20). Takes the key `enrolment-token:<hash>`. */
export type TokenIssued = {
  readonly type: 'TokenIssued';
  readonly tokenHash: string;
  /** UTC, RFC 3339. */
  readonly expiresAt: string;
  /** The person who may be named as the owner of what joins with it. */
  readonly owner: string;
  /** A name for the node; null when the first named check names it. */
  readonly name: string | null;
  /** The node that gets its next machine with it; left out for a node not seen before (N19). */
  readonly node?: string;
};

/** Everything that can happen to a token. */
export type TokenEvent = TokenIssued;
