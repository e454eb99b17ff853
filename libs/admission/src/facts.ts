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
  /**
   * What was hashed is the machine's own credential, which the tool made to hand it to the machine over SSH: it admits whoever presents it,
   * once (O3). Left out for a token.
   */
  readonly preadmits?: true;
  /** The id of the session in which the person said it, so that its age can be told from the record (O3). Absent in older records. */
  readonly session?: string;
};

/**
 * It admits nobody from now on: the person took it back, or made another one for its node. Takes the redemption, so that of this and an admission one
 * is recorded.
 */
export type TokenWithdrawn = {
  readonly type: 'TokenWithdrawn';
  /** Its id. */
  readonly token: string;
};

/** Everything that can happen to a token. Its redemption is the admission of the machine. */
export type TokenEvent = TokenIssued | TokenWithdrawn;

// Ledger events of the category `code`, one stream per short code (O12).

/** What an installation says of itself. Display only. */
export type SelfReported = {
  readonly hostname: string | null;
  readonly agentVersion: string | null;
  readonly platform: string | null;
  readonly arch: string | null;
};

/** An installation asked to be let in, and shows a code. The actor is the plane. Takes the keys of both codes. */
export type CodeRequested = {
  readonly type: 'CodeRequested';
  readonly userCodeHash: string;
  readonly deviceCodeHash: string;
  readonly identifierHash: string;
  /** SHA-256 of the credential that the installation made and keeps; nobody else has ever had it. */
  readonly keyHash: string;
  readonly report: SelfReported;
  /** UTC, RFC 3339. */
  readonly expiresAt: string;
};

/** A person typed the code and lets the installation in. The actor is that person. */
export type CodeApproved = {
  readonly type: 'CodeApproved';
  /** The person whose machine it becomes. */
  readonly owner: string;
  /** A name for the node; null when the first named check names it. */
  readonly name: string | null;
  /** The node that gets its next machine with it; left out for a node not seen before (N19). */
  readonly node?: string;
  /** The id of the session in which the person said it, so that its age can be told from the record (O3). Absent in older records. */
  readonly session?: string;
};

/** A person typed the code and does not, or takes an approval back before it is picked up. */
export type CodeRefused = {
  readonly type: 'CodeRefused';
  /** The id of the code where it had been approved: then this takes its redemption, so that of this and the pickup one is recorded. */
  readonly withdrawn?: string;
};

/** Everything that can happen to a short code. Its pickup is the admission of the machine. */
export type CodeEvent = CodeRequested | CodeApproved | CodeRefused;
