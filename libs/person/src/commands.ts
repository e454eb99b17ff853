import type { Instant } from '@rollcall/decider';

/** How long a session lives, in seconds; so none can be fresh for longer. */
export const SESSION_LIFE_SECONDS = 12 * 3_600;
/** How long a session in a browser lasts while nobody uses it, in seconds. */
export const IDLE_SECONDS = 1_800;

/** A person exists from here on. */
export type RegisterPerson = {
  readonly type: 'RegisterPerson';
  readonly name: string;
  /** Only if the plane has nobody yet. */
  readonly first?: true;
  /** With a link to sign in with. (Default: none) */
  readonly link?: Pick<IssueSignInLink, 'linkHash' | 'expiresIn'>;
};
/** Somebody who may say so lets a person sign in once. */
export type IssueSignInLink = {
  readonly type: 'IssueSignInLink';
  readonly linkHash: string;
  /** Seconds. */ readonly expiresIn: number;
  /** There was a link with that hash, as its claim says; it stays claimed for ever. (Default: there was none) */
  readonly isKnown?: boolean;
};
/** What shows who a person is. */
export type Proof =
  /** A one-time link. */
  | { readonly linkHash: string }
  /** A program whose short code the person approved; its login is picked up in the same append. `authenticatedAt` is UTC, RFC 3339. */
  | { readonly login: string; readonly authenticatedAt: string }
  /** An account at the identity provider; `authenticatedAt` is when the provider says that they showed who they are, null where it does not. */
  | { readonly accountHash: string; readonly authenticatedAt: Instant | null };
/** Somebody has shown who they are; the plane makes the session's secret, answers it once and keeps its hash. */
export type StartSession = {
  readonly type: 'StartSession';
  readonly proof: Proof;
  readonly sessionId: string;
  readonly sessionHash: string;
  /** Seconds. */
  readonly expiresIn: number;
  /** It is a cookie of a browser, so it ends when nobody uses it. (Default: it is a program's) */
  readonly browser?: true;
  /** The session of the same person that it takes the place of. (Default: none) */
  readonly replaces?: string;
};
/** A person ends a session. */
export type EndSession = { readonly type: 'EndSession'; readonly sessionId: string };
/** A person will be known by an account at an identity provider as well. */
export type LinkAccount = {
  readonly type: 'LinkAccount';
  readonly accountId: string;
  readonly accountHash: string;
  readonly provider: string;
};
/** And by that account no more. */
export type UnlinkAccount = { readonly type: 'UnlinkAccount'; readonly accountId: string };
/** The first person takes a person's access away, for good. */
export type EndAccess = { readonly type: 'EndAccess' };
/** Everything that can be asked of a person's stream. */
export type PersonCommand =
  RegisterPerson | IssueSignInLink | StartSession | EndSession | LinkAccount | UnlinkAccount | EndAccess;

/** Held by the person who started the plane. */
export const FIRST_PERSON_KEY = 'person:first';
/** The key that a link's hash is; never released, so a used link is not issued again. */
export const signInLinkKey = (linkHash: string): string => `sign-in-link:${linkHash}`;
/** The key that a session's hash is; the session's end releases it. */
export const sessionKey = (sessionHash: string): string => `session:${sessionHash}`;
/** The key that an account's hash is: of one person at a time. */
export const accountKey = (accountHash: string): string => `account:${accountHash}`;
/** The stream of a person. */
export const personStream = (personId: string): string => `person-${personId}`;
/** The id of the person that a stream is about. */
export const personIdOf = (stream: string): string => stream.slice('person-'.length);
