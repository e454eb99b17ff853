import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { FIRST_PERSON_KEY, type IssueSignInLink, type RegisterPerson, type StartSession } from './commands.js';
import type { PersonEvent } from './facts.js';
import { beganAt, isFresh, isIdle, liveSession, liveSessions, person } from './person.js';

const given = specFor(person);

const NOW = Date.UTC(2026, 0, 1, 12);
const register = (name = 'Ada'): RegisterPerson => ({ type: 'RegisterPerson', name });
const issueLink = (linkHash = 'l1'): IssueSignInLink => ({ type: 'IssueSignInLink', linkHash, expiresIn: 600 });
const start = (over: Partial<StartSession> = {}): StartSession => ({
  type: 'StartSession',
  proof: { linkHash: 'l1' },
  sessionId: 's1',
  sessionHash: 'sh1',
  expiresIn: 3600,
  ...over,
});

const registered = { type: 'PersonRegistered', name: 'Ada' } as const;
const linkIssued = (linkHash = 'l1') =>
  ({ type: 'SignInLinkIssued', linkHash, expiresAt: '2026-01-01T12:10:00.000Z' }) as const;
const sessionStarted = (n = 1, linkHash = 'l1') =>
  ({
    type: 'SessionStarted',
    sessionId: `s${n}`,
    sessionHash: `sh${n}`,
    linkHash,
    expiresAt: '2026-01-01T13:00:00.000Z',
    authenticatedAt: '2026-01-01T12:00:00.000Z',
  }) as const;
const sessionEnded = (n = 1) => ({ type: 'SessionEnded', sessionId: `s${n}`, sessionHash: `sh${n}` }) as const;

const stateAfter = (...facts: PersonEvent[]) => facts.reduce(person.evolve, person.initial());

describe('a person', () => {
  it('is registered once', () => {
    given().when(register()).then(registered);
    given(registered).when(register('Eve')).thenNothing();
  });

  it('is registered together with a link to sign in with', () =>
    given()
      .when({ ...register(), link: { linkHash: 'l1', expiresIn: 600 } }, { now: NOW })
      .then(registered, linkIssued()));

  it('is registered with a link by nobody who was quicker: a link is no way in to somebody else', () =>
    given(registered)
      .when({ ...register('Eve'), link: { linkHash: 'l1', expiresIn: 600 } })
      .thenRefused('invalid-body', { errors: [{ field: 'commandId', message: 'is the id of somebody else' }] }));

  it('takes the key of the first person only when registered as that', () => {
    given()
      .when({ ...register(), first: true })
      .then({ ...registered, first: true });
    expect(person.claims?.({ ...registered, first: true })).toEqual([{ op: 'take', key: FIRST_PERSON_KEY }]);
    expect(person.claims?.(registered)).toEqual([]);
  });
});

describe('a sign-in link', () => {
  it('is issued with a time of expiry to a registered person', () => {
    given(registered).when(issueLink(), { now: NOW }).then(linkIssued());
    given().when(issueLink()).thenRefused('link-refused', {});
  });

  it('is issued beside others', () =>
    given(registered, linkIssued('l0')).when(issueLink(), { now: NOW }).then(linkIssued()));

  it('is issued once', () => given(registered, linkIssued('l0'), linkIssued()).when(issueLink()).thenNothing());

  it('is not issued again once it was used', () =>
    given(registered, linkIssued(), sessionStarted())
      .when({ ...issueLink(), isKnown: true })
      .thenRefused('invalid-body', { errors: [{ field: 'linkHash', message: 'is that of another link' }] }));

  it('becomes a session before it expires', () => {
    given(registered, linkIssued('l0'), linkIssued()).when(start(), { now: NOW }).then(sessionStarted());
    given(registered, linkIssued())
      .when(start({ expiresIn: 1 }), { now: NOW + 599_999 })
      .thenState({ links: [] });
  });

  it('looks the same to whoever presents a used, an expired or an unknown one', () => {
    given(registered, linkIssued())
      .when(start(), { now: NOW + 600_000 })
      .thenRefused('link-refused', {});
    given(registered, linkIssued(), sessionStarted()).when(start(), { now: NOW }).thenRefused('link-refused', {});
    given(registered, linkIssued('l2')).when(start(), { now: NOW }).thenRefused('link-refused', {});
  });

  it('is used up alone', () =>
    given(registered, linkIssued('l1'), linkIssued('l2'))
      .when(start(), { now: NOW })
      .thenState({ links: [{ linkHash: 'l2', expiresAt: linkIssued().expiresAt }] }));
});

it('becomes a session by a login that it approved, no fresher than the session in which it was, and leaves links alone (O3)', () => {
  const proof = { login: 'a1', authenticatedAt: '2026-01-01T11:50:00.000Z' };
  const { linkHash: _, ...started } = sessionStarted();
  given(registered, linkIssued())
    .when(start({ proof }), { now: NOW })
    .then({ ...started, ...proof });
});

describe('an account at an identity provider', () => {
  const link = { type: 'LinkAccount', accountId: 'a1', accountHash: 'ah1', provider: 'id.example' } as const;
  const linked = { ...link, type: 'AccountLinked', linkedAt: '2026-01-01T12:00:00.000Z' } as const;
  const unlinked = { type: 'AccountUnlinked', accountId: 'a1', accountHash: 'ah1' } as const;
  const { linkHash: _, authenticatedAt, ...bare } = sessionStarted();
  const proof = (at: number | null) => ({ accountHash: 'ah1', authenticatedAt: at });

  it('is linked once, is of one person at a time, and can be given back', () => {
    given(registered).when(link, { now: NOW }).then(linked);
    given(registered, linked).when(link, { now: NOW }).thenNothing();
    given(registered, linked).when({ type: 'UnlinkAccount', accountId: 'a1' }).then(unlinked);
    given(registered, linked, unlinked)
      .when({ type: 'UnlinkAccount', accountId: 'a1' })
      .thenRefused('account-not-found', {});
    expect(person.claims?.(linked)).toEqual([{ op: 'take', key: 'account:ah1' }]);
    expect(person.claims?.(unlinked)).toEqual([{ op: 'release', key: 'account:ah1' }]);
    const ten = Array.from({ length: 10 }, (_, n) => ({ ...linked, accountId: `b${n}`, accountHash: `bh${n}` }));
    given(registered, ...ten)
      .when(link)
      .thenRefused('too-many-accounts', {});
  });

  it('becomes a session while it is linked, and is refused otherwise', () => {
    given(registered, linked)
      .when(start({ proof: proof(NOW) }), { now: NOW })
      .then({ ...bare, account: 'a1', authenticatedAt });
    for (const past of [[registered], [registered, linked, unlinked]])
      given(...past)
        .when(start({ proof: proof(NOW) }), { now: NOW })
        .thenRefused('account-refused', {});
  });

  it('makes a session that is as fresh as the provider says, never fresher than now, and not fresh where it says nothing (O3)', () => {
    given(registered, linked)
      .when(start({ proof: proof(NOW - 60_000) }), { now: NOW })
      .then({ ...bare, account: 'a1', authenticatedAt: '2026-01-01T11:59:00.000Z' });
    given(registered, linked)
      .when(start({ proof: proof(NOW + 60_000) }), { now: NOW })
      .then({ ...bare, account: 'a1', authenticatedAt });
    given(registered, linked)
      .when(start({ proof: proof(null) }), { now: NOW })
      .then({ ...bare, account: 'a1' });
  });
});

it('loses all that it could sign in with when it is removed, for good', () => {
  const { linkHash: _, ...session } = sessionStarted(2);
  const account = { accountId: 'a1', accountHash: 'ah1', provider: 'id.example', linkedAt: 'x' };
  const linked = { type: 'AccountLinked', ...account } as const;
  const past = [registered, linkIssued(), session, linked] as const;
  const end = { type: 'EndAccess' } as const;
  const ends = [
    sessionEnded(2),
    { type: 'AccountUnlinked', accountId: 'a1', accountHash: 'ah1' },
    { type: 'AccessEnded' },
  ] as const;
  given(...past)
    .when(end)
    .then(...ends);
  given(...past, ...ends)
    .when(end)
    .thenNothing();
  given().when(end).thenRefused('person-not-found', {});
  given(...past)
    .when(end)
    .thenState({ name: 'Ada', links: [], sessions: [], accounts: [], removed: true });

  const removed = given(...past, ...ends);
  const login = { login: 'l1', authenticatedAt: '2026-01-01T12:00:00.000Z' };
  const accountHash = { accountHash: 'ah1', authenticatedAt: null };
  removed.when(start(), { now: NOW }).thenRefused('link-refused', {});
  removed.when(start({ proof: login }), { now: NOW }).thenRefused('code-refused', {});
  removed.when(start({ proof: accountHash }), { now: NOW }).thenRefused('account-refused', {});
  removed.when(issueLink('l2')).thenRefused('link-refused', {});
  const { linkedAt: __, ...link } = account;
  removed.when({ type: 'LinkAccount', ...link }).thenRefused('not-signed-in', {});
});

describe('a session', () => {
  it('in a browser is called that, and takes the place of the one that the browser had', () => {
    const { linkHash: _, ...before } = sessionStarted(2, 'l2');
    const begin = start({ browser: true, replaces: 's2' });
    const begun = { ...sessionStarted(), browser: true } as const;
    given(registered, before, linkIssued()).when(begin, { now: NOW }).then(begun, sessionEnded(2));
    given(registered, linkIssued()).when(begin, { now: NOW }).then(begun);
    const [session] = liveSessions(stateAfter(registered, begun), NOW);
    expect(session?.browser).toBe(true);
  });

  it('is idle when nobody has used it for longer than a while, and began twelve hours before it ends', () => {
    expect([isIdle(NOW, NOW + 60_000, 60), isIdle(NOW, NOW + 60_001, 60)]).toEqual([false, true]);
    expect(beganAt({ sessionId: 's', sessionHash: 'h', expiresAt: '2026-01-02T00:00:00.000Z' })).toBe(NOW);
  });

  const state = stateAfter(registered, linkIssued(), sessionStarted(1), sessionStarted(2, 'l2'));

  it('is valid until it expires', () => {
    expect(liveSession(state, 'sh1', NOW)).not.toBeNull();
    expect(liveSession(state, 'sh2', NOW + 3_599_999)).not.toBeNull();
    expect(liveSession(state, 'sh1', NOW + 3_600_000)).toBeNull();
    expect(liveSession(state, 'sh2', NOW)?.sessionId).toBe('s2');
  });

  it('is shown while it is valid, with what it began by', () => {
    expect(liveSessions(state, NOW).map(({ sessionId }) => sessionId)).toEqual(['s1', 's2']);
    expect(liveSessions(state, NOW + 3_600_000)).toEqual([]);
    const { linkHash: _, ...bare } = sessionStarted(3);
    const [byCode] = liveSessions(stateAfter(registered, { ...bare, login: 'a1' }), NOW);
    expect(byCode).toMatchObject({ sessionId: 's3', login: 'a1' });
  });

  it('is not valid when nobody started it, or it ended', () => {
    expect(liveSession(state, 'sh3', NOW)).toBeNull();
    const ended = person.evolve(state, sessionEnded(1));
    expect(liveSession(ended, 'sh1', NOW)).toBeNull();
    expect(liveSession(ended, 'sh2', NOW)).not.toBeNull();
  });

  it('is fresh for a while after the person showed who they are, and an old one of which nobody knows when is not (O3)', () => {
    const session = liveSession(state, 'sh1', NOW);
    expect(session && isFresh(session, NOW + 900_000, 900)).toBe(true);
    expect(session && isFresh(session, NOW + 900_001, 900)).toBe(false);
    const { authenticatedAt: _, ...old } = sessionStarted(3);
    const oldSession = liveSession(person.evolve(state, old), 'sh3', NOW);
    expect(oldSession && isFresh(oldSession, NOW, 900)).toBe(false);
  });

  it('ends once', () => {
    given(registered, sessionStarted(1), sessionStarted(2))
      .when({ type: 'EndSession', sessionId: 's2' })
      .then(sessionEnded(2));
    given(registered, sessionStarted(), sessionEnded()).when({ type: 'EndSession', sessionId: 's1' }).thenNothing();
  });
});

describe('what is kept of a person', () => {
  it('is nothing before registration', () => expect(person.initial()).toEqual({ name: null, links: [], sessions: [] }));

  it('is bounded: the hundred newest links and sessions', () => {
    const numbers = Array.from({ length: 101 }, (_, index) => index);
    const { links, sessions } = stateAfter(
      ...numbers.map((n) => linkIssued(`l${n}`)),
      ...numbers.map((n) => sessionStarted(n, 'another')),
    );
    expect([links.length, links[0]?.linkHash, links.at(-1)?.linkHash]).toEqual([100, 'l1', 'l100']);
    expect([sessions.length, sessions[0]?.sessionId, sessions.at(-1)?.sessionId]).toEqual([100, 's1', 's100']);
  });

  it('is not changed by a fact of an unknown type, which claims nothing', () => {
    const unknown = { ...sessionStarted(), type: 'PersonSang' } as unknown as PersonEvent;
    const state = stateAfter(registered);
    expect(person.evolve(state, unknown)).toBe(state);
    expect(person.claims?.(unknown)).toEqual([]);
  });

  it('takes the keys of links and sessions, and gives back the key of a session that ended', () => {
    expect(person.claims?.(registered)).toEqual([]);
    expect(person.claims?.(linkIssued())).toEqual([{ op: 'take', key: 'sign-in-link:l1' }]);
    expect(person.claims?.(sessionStarted())).toEqual([{ op: 'take', key: 'session:sh1' }]);
    expect(person.claims?.(sessionEnded())).toEqual([{ op: 'release', key: 'session:sh1' }]);
  });
});
