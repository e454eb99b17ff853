// Ledger events of the category `login`, one stream per sign-in of a device that shows a short code (RFC 8628).

/** What a program that wants to sign in says of itself. Display only. */
export type DeviceClaims = {
  /** Its OAuth `client_id`: anybody can write anything there. */
  readonly client: string | null;
  readonly device: string | null;
  readonly platform: string | null;
};

/** A program asked to act as a person, and shows a code. The actor is the plane. Takes the keys of both codes. */
export type LoginRequested = {
  readonly type: 'LoginRequested';
  readonly userCodeHash: string;
  readonly deviceCodeHash: string;
  readonly claims: DeviceClaims;
  /** UTC, RFC 3339. */
  readonly expiresAt: string;
};

/** A person typed the code and lets the program act as them. The actor is that person. */
export type LoginApproved = {
  readonly type: 'LoginApproved';
  readonly person: string;
  /** When they had shown who they are in the session in which they said so. The new session is no fresher. UTC, RFC 3339. */
  readonly authenticatedAt: string;
};

/** A person typed the code and does not. */
export type LoginRefused = { readonly type: 'LoginRefused' };

/** The program got its session, once: in the same append it starts on the stream of the person. The actor is that person. */
export type LoginPickedUp = { readonly type: 'LoginPickedUp' };

/** Everything that can happen to a login. */
export type LoginEvent = LoginRequested | LoginApproved | LoginRefused | LoginPickedUp;
