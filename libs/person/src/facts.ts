// Ledger events of the category `person`, one stream per person.

/** Somebody is known. Takes the key `person:first` where the plane had nobody before. */
export type PersonRegistered = {
  readonly type: 'PersonRegistered';
  /** Shown beside what the person did. */
  readonly name: string;
  /** True for whoever started the plane: only one stream can hold that. */
  readonly first?: true;
};
/** A one-time sign-in link exists. Takes the key `sign-in-link:<hash>`. */
export type SignInLinkIssued = {
  readonly type: 'SignInLinkIssued';
  readonly linkHash: string;
  readonly expiresAt: string;
};
/** Somebody showed who they are, and has a session. Takes the key `session:<hash>`. */
export type SessionStarted = {
  readonly type: 'SessionStarted';
  readonly sessionId: string;
  readonly sessionHash: string;
  /** The link that became this session, once; left out where it was something else. */
  readonly linkHash?: string;
  /** The id of the login that became this session, in the same append; left out where it was something else. */
  readonly login?: string;
  /** The id of the account that was shown; left out where it was something else. */
  readonly account?: string;
  readonly expiresAt: string;
  /** When the person showed who they are: the session is fresh for a while after it. UTC, RFC 3339; absent in old records and where an identity provider does not say. */
  readonly authenticatedAt?: string;
  /** True for one in a browser, which ends when nobody uses it; left out for a program's, and in old records. */
  readonly browser?: true;
};
/** The session was ended by a person, or another took its place in that browser. Releases the key `session:<hash>`. */
export type SessionEnded = { readonly type: 'SessionEnded'; readonly sessionId: string; readonly sessionHash: string };

/** The person is known by an account at an identity provider from here on. Takes the key `account:<hash>`. */
export type AccountLinked = {
  readonly type: 'AccountLinked';
  readonly accountId: string;
  /** SHA-256 of the issuer and the subject, hex: neither is recorded. */
  readonly accountHash: string;
  /** The host of the provider. */
  readonly provider: string;
  /** UTC, RFC 3339. */
  readonly linkedAt: string;
};
/** And no more. Releases the key. */
export type AccountUnlinked = {
  readonly type: 'AccountUnlinked';
  readonly accountId: string;
  readonly accountHash: string;
};

/** The first person removed this person, whose links are void from here on. Their sessions and accounts have ended in the same append. */
export type AccessEnded = { readonly type: 'AccessEnded' };

/** Everything that can happen to a person. */
export type PersonEvent =
  PersonRegistered | SignInLinkIssued | SessionStarted | SessionEnded | AccountLinked | AccountUnlinked | AccessEnded;
