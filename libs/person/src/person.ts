import { type Decider, type Instant, instantOf, Refusal, timestampOf } from '@rollcall/decider';
import {
  accountKey,
  FIRST_PERSON_KEY,
  type IssueSignInLink,
  type PersonCommand,
  type Proof,
  SESSION_LIFE_SECONDS,
  sessionKey,
  signInLinkKey,
} from './commands.js';
import type { AccountLinked, PersonEvent } from './facts.js';

/** How many unused links and how many sessions one person may have; the oldest gives way, because a fold knows no time. */
const KEPT = 100;

/** How many accounts one person may be known by. */
const MOST_ACCOUNTS = 10;

/** An account at an identity provider by which a person is known. */
export type Account = Omit<AccountLinked, 'type'>;

/** A link that was not used yet; `expiresAt` is UTC, RFC 3339. */
export type SignInLink = { readonly linkHash: string; readonly expiresAt: string };

/** A session that was not ended; times are UTC, RFC 3339. */
export type Session = {
  readonly sessionId: string;
  readonly sessionHash: string;
  readonly expiresAt: string;
  /** When the person showed who they are; absent in a session of before that was recorded, which is never fresh. */
  readonly authenticatedAt?: string;
  /** The login or the account by which it began; left out where it was a link, and on old heads. */
  readonly login?: string;
  readonly account?: string;
  /** True for one in a browser. */
  readonly browser?: true;
};

/** What is known of one person. */
export type PersonState = {
  /** Null before registration. */
  readonly name: string | null;
  /** Unused ones, oldest first. */
  readonly links: readonly SignInLink[];
  /** Those not ended, oldest first. */
  readonly sessions: readonly Session[];
  /** Oldest first; absent on heads that were folded before there were accounts. */
  readonly accounts?: readonly Account[];
  /** True for somebody whom the first person removed. */
  readonly removed?: true;
};

const linkIssued = (
  { linkHash, expiresIn }: Pick<IssueSignInLink, 'linkHash' | 'expiresIn'>,
  now: Instant,
): PersonEvent => ({ type: 'SignInLinkIssued', linkHash, expiresAt: timestampOf(now + expiresIn * 1000) });

const endOf = (sessions: readonly Session[]): PersonEvent[] =>
  sessions.map(({ sessionId, sessionHash }) => ({ type: 'SessionEnded', sessionId, sessionHash }));

const unlinked = ({ accountId, accountHash }: Account): PersonEvent => ({
  type: 'AccountUnlinked',
  accountId,
  accountHash,
});

const wrong = (field: string, message: string): Refusal =>
  new Refusal('invalid-body', { errors: [{ field, message }] });

/** What showed who they are, and when that was. @throws Refusal in one face for what is used, expired or unknown */
const authenticated = (
  { links, accounts = [], removed }: PersonState,
  proof: Proof,
  now: Instant,
): {
  readonly linkHash?: string;
  readonly login?: string;
  readonly account?: string;
  readonly authenticatedAt?: string;
} => {
  // That of the session that approved: else each could approve the next, and all of them would stay fresh without anybody there.
  if ('login' in proof) {
    // Approved while they still had access: it is over like any other.
    if (removed) throw new Refusal('code-refused');
    return { login: proof.login, authenticatedAt: proof.authenticatedAt };
  }
  if ('accountHash' in proof) {
    const account = accounts.find(({ accountHash }) => accountHash === proof.accountHash);
    if (!account) throw new Refusal('account-refused');
    // Nobody has shown anything later than now, whatever the provider's clock says.
    const at = proof.authenticatedAt === null ? null : timestampOf(Math.min(now, proof.authenticatedAt));
    return { account: account.accountId, ...(at === null ? {} : { authenticatedAt: at }) };
  }
  const link = links.find(({ linkHash }) => linkHash === proof.linkHash);
  if (!link || now >= instantOf(link.expiresAt)) throw new Refusal('link-refused');
  return { linkHash: proof.linkHash, authenticatedAt: timestampOf(now) };
};

/** A person signs in with a link that works once and expires, and has sessions that end or expire. */
export const person: Decider<PersonState, PersonCommand, PersonEvent> = {
  fold: 1,

  initial: () => ({ name: null, links: [], sessions: [] }),

  decide(state, command, { now }) {
    switch (command.type) {
      case 'RegisterPerson':
        // The first name stays: a second registration is the first one again. But nobody gets a way in to somebody who was there before.
        if (state.name !== null) {
          if (command.link) throw wrong('commandId', 'is the id of somebody else');
          return [];
        }
        return [
          { type: 'PersonRegistered', name: command.name, ...(command.first ? { first: true } : {}) },
          ...(command.link ? [linkIssued(command.link, now)] : []),
        ];
      case 'IssueSignInLink': {
        if (state.name === null || state.removed) throw new Refusal('link-refused');
        if (state.links.some((link) => link.linkHash === command.linkHash)) return [];
        // It was used, or has given way: it must not work again.
        if (command.isKnown === true) throw wrong('linkHash', 'is that of another link');
        return [linkIssued(command, now)];
      }
      case 'StartSession': {
        const { proof, sessionId, sessionHash, expiresIn, browser, replaces } = command;
        const expiresAt = timestampOf(now + expiresIn * 1000);
        const started = { sessionId, sessionHash, expiresAt, ...authenticated(state, proof, now) };
        return [
          { type: 'SessionStarted', ...started, ...(browser ? { browser } : {}) },
          ...endOf(state.sessions.filter((session) => session.sessionId === replaces)),
        ];
      }
      case 'EndSession':
        return endOf(state.sessions.filter(({ sessionId }) => sessionId === command.sessionId));
      case 'LinkAccount': {
        const { accountId, accountHash, provider } = command;
        const { accounts = [], removed } = state;
        if (removed) throw new Refusal('not-signed-in');
        if (accounts.some((account) => account.accountHash === accountHash)) return [];
        if (accounts.length >= MOST_ACCOUNTS) throw new Refusal('too-many-accounts');
        return [{ type: 'AccountLinked', accountId, accountHash, provider, linkedAt: timestampOf(now) }];
      }
      case 'UnlinkAccount': {
        const account = state.accounts?.find(({ accountId }) => accountId === command.accountId);
        if (!account) throw new Refusal('account-not-found');
        return [unlinked(account)];
      }
      case 'EndAccess':
        if (state.name === null) throw new Refusal('person-not-found');
        if (state.removed) return [];
        return [...endOf(state.sessions), ...(state.accounts ?? []).map(unlinked), { type: 'AccessEnded' }];
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'PersonRegistered':
        return { ...state, name: fact.name };
      case 'SignInLinkIssued': {
        const { linkHash, expiresAt } = fact;
        return { ...state, links: [...state.links, { linkHash, expiresAt }].slice(-KEPT) };
      }
      case 'SessionStarted': {
        const { type: _, linkHash, ...session } = fact;
        return {
          ...state,
          links: state.links.filter((link) => link.linkHash !== linkHash),
          sessions: [...state.sessions, session].slice(-KEPT),
        };
      }
      case 'SessionEnded':
        return { ...state, sessions: state.sessions.filter(({ sessionId }) => sessionId !== fact.sessionId) };
      case 'AccountLinked': {
        const { type: _, ...account } = fact;
        return { ...state, accounts: [...(state.accounts ?? []), account] };
      }
      case 'AccountUnlinked': {
        const accounts = (state.accounts ?? []).filter(({ accountId }) => accountId !== fact.accountId);
        return { ...state, accounts };
      }
      case 'AccessEnded':
        return { ...state, links: [], removed: true };
      default:
        return state;
    }
  },

  claims(fact) {
    switch (fact.type) {
      case 'PersonRegistered':
        return fact.first ? [{ op: 'take', key: FIRST_PERSON_KEY }] : [];
      case 'SignInLinkIssued':
        return [{ op: 'take', key: signInLinkKey(fact.linkHash) }];
      case 'SessionStarted':
        return [{ op: 'take', key: sessionKey(fact.sessionHash) }];
      case 'SessionEnded':
        return [{ op: 'release', key: sessionKey(fact.sessionHash) }];
      case 'AccountLinked':
        return [{ op: 'take', key: accountKey(fact.accountHash) }];
      case 'AccountUnlinked':
        return [{ op: 'release', key: accountKey(fact.accountHash) }];
      default:
        return [];
    }
  },
};

/** The session with this hash, if it has neither ended nor expired; `now` is the record's time. */
export const liveSession = (state: PersonState, sessionHash: string, now: Instant): Session | null =>
  state.sessions.find((session) => session.sessionHash === sessionHash && now < instantOf(session.expiresAt)) ?? null;

/** The sessions that have neither ended nor expired, oldest first. */
export const liveSessions = ({ sessions }: PersonState, now: Instant): readonly Session[] =>
  sessions.filter(({ expiresAt }) => now < instantOf(expiresAt));

/** When a session began. */
export const beganAt = ({ expiresAt }: Session): Instant => instantOf(expiresAt) - SESSION_LIFE_SECONDS * 1000;

/** Whether nobody has used something for longer than so many seconds. */
export const isIdle = (usedAt: Instant, now: Instant, seconds: number): boolean => now - usedAt > seconds * 1000;

/** Whether a session began at most so many seconds ago, so that an open one which was left alone is not enough (O3). */
export const isFresh = ({ authenticatedAt }: Session, now: Instant, seconds: number): boolean =>
  authenticatedAt !== undefined && now - instantOf(authenticatedAt) <= seconds * 1000;
