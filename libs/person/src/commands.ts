export type RegisterPerson = {
  readonly type: 'RegisterPerson';
  readonly name: string;
  /** Only if the plane has nobody yet. */
  readonly first?: true;
};
export type IssueSignInLink = {
  readonly type: 'IssueSignInLink';
  readonly linkHash: string;
  /** Seconds. */ readonly expiresIn: number;
};
export type StartSession = {
  readonly type: 'StartSession';
  readonly linkHash: string;
  readonly sessionId: string;
  readonly sessionHash: string;
  /** Seconds. */
  readonly expiresIn: number;
};
export type EndSession = { readonly type: 'EndSession'; readonly sessionId: string };
export type PersonCommand = RegisterPerson | IssueSignInLink | StartSession | EndSession;

/** Held by the person who started the plane. */
export const FIRST_PERSON_KEY = 'person:first';
export const signInLinkKey = (linkHash: string): string => `sign-in-link:${linkHash}`;
export const sessionKey = (sessionHash: string): string => `session:${sessionHash}`;
export const personStream = (personId: string): string => `person-${personId}`;
export const personIdOf = (stream: string): string => stream.slice('person-'.length);
