export type RegisterPerson = { readonly type: 'RegisterPerson'; readonly name: string };
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

export const signInLinkKey = (linkHash: string): string => `sign-in-link:${linkHash}`;
export const sessionKey = (sessionHash: string): string => `session:${sessionHash}`;
export const personStream = (personId: string): string => `person-${personId}`;
export const personIdOf = (stream: string): string => stream.slice('person-'.length);
