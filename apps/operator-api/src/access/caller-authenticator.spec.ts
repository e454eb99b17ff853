import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { InMemoryAttempts } from '@rollcall/attempts/testing';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { ensureFirstPerson, issueSignInLink } from '@rollcall/first-person';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { automation, automationStream, person, personStream } from '@rollcall/person';
import { hashOf, makeSecret } from '@rollcall/wire';
import { SignIn } from '../session/sign-in/sign-in.command.js';
import { SignInHandler } from '../session/sign-in/sign-in.handler.js';
import { CallerAuthenticator } from './caller-authenticator.js';
import { SessionUses } from './session-uses.js';

const HOUR = 3_600_000;

it('knows a person by their session for twelve hours, also while nothing is recorded, and then nobody; fresh for a quarter of an hour (O3)', async () => {
  const start = Date.UTC(2026, 0, 1, 12);
  const clock = new ManualClock(start);
  const store = new InMemoryEventStore({ now: () => start });
  const attempts = new InMemoryAttempts();
  const authenticator = new CallerAuthenticator(store, clock, 900, new SessionUses(attempts, clock, 1_800));
  const { personId } = await ensureFirstPerson(store, { name: 'Ada' });
  const { secret } = await issueSignInLink(store, personId);
  const { session, expiresAt } = await new SignInHandler(store, attempts).execute(new SignIn(secret));
  expect(expiresAt).toBe('2026-01-02T00:00:00.000Z');

  expect(await authenticator.authenticate(session)).toMatchObject({ fresh: true });
  await clock.advance(900_001);
  expect(await authenticator.authenticate(session)).toMatchObject({ fresh: false });
  await clock.advance(12 * HOUR - 900_002);
  expect(await authenticator.authenticate(session)).toMatchObject({ kind: 'person', id: personId, name: 'Ada' });
  await clock.advance(1);
  await expect(authenticator.authenticate(session)).rejects.toThrow('not-signed-in');
  await store.close();
});

it('knows no program of somebody who was removed, also one that was let in at that very moment (O3)', async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1, 12));
  const store = new InMemoryEventStore({ now: () => clock.wall() });
  const authenticator = new CallerAuthenticator(store, clock, 900, new SessionUses(new InMemoryAttempts(), clock, 1));
  const { personId } = await ensureFirstPerson(store, { name: 'Ada' });
  const [secret, actor] = [makeSecret('rca'), { kind: 'person', id: personId } as const];
  const token = { tokenId: 't1', tokenHash: hashOf(secret), name: 'bot', scopes: ['presence:read'], expiresIn: 600 };
  const stream = automationStream(personId);
  await store.decide(automation, { stream }, { type: 'IssueAutomationToken', ...token }, { actor });
  expect(await authenticator.authenticate(secret)).toMatchObject({ kind: 'automation', owner: personId });
  await store.decide(person, { stream: personStream(personId) }, { type: 'EndAccess' }, { actor });
  await expect(authenticator.authenticate(secret)).rejects.toThrow('not-signed-in');
});

describe('a session in a browser', () => {
  const MINUTE = 60_000;
  const start = Date.UTC(2026, 0, 1, 12);
  const byHand = { method: 'GET', headers: { 'x-rollcall-by-hand': '1' } };
  const byItself = { method: 'GET', headers: {} };

  /** A browser that has just signed in, and two instances that it can ask. */
  const signedIn = async () => {
    const clock = new ManualClock(start);
    const store = new InMemoryEventStore({ now: () => start });
    const attempts = new InMemoryAttempts();
    const instance = () => new CallerAuthenticator(store, clock, 900, new SessionUses(attempts, clock, 1_800));
    const [one, other] = [instance(), instance()];
    const { personId } = await ensureFirstPerson(store, { name: 'Ada' });
    const signIn = async (replaces: string | null) => {
      const { secret } = await issueSignInLink(store, personId);
      const handler = new SignInHandler(store, attempts);
      return (await handler.execute(new SignIn(secret, { replaces }))).session;
    };
    return { clock, store, personId, one, other, signIn, session: await signIn(null) };
  };

  it('lasts while somebody uses it, on whichever instance, and is over on all when nobody did for half an hour (U9)', async () => {
    const { clock, one, other, session } = await signedIn();
    await one.authenticate(session, byHand);
    for (const instance of [one, other, one, one, other]) {
      await clock.advance(29 * MINUTE);
      await instance.authenticate(session, byHand);
    }
    await clock.advance(30 * MINUTE + 1);
    for (const instance of [other, one, other])
      await expect(instance.authenticate(session, byHand)).rejects.toThrow('not-signed-in');
  });

  it('is not kept by a page that looks again by itself, or by a stream that is looked at', async () => {
    const { clock, one, session } = await signedIn();
    for (let minute = 0; minute < 30; minute += 1) {
      await clock.advance(MINUTE);
      await one.authenticate(session, byItself);
      await one.authenticate(session);
    }
    await clock.advance(1);
    await expect(one.authenticate(session)).rejects.toThrow('not-signed-in');
    await expect(one.authenticate(session, byHand)).rejects.toThrow('not-signed-in');
  });

  it('ends where another takes its place in that browser, in the same append', async () => {
    const { store, personId, one, signIn, session } = await signedIn();
    const next = await signIn(session);
    await expect(one.authenticate(session, byHand)).rejects.toThrow('not-signed-in');
    expect(await one.authenticate(next, byHand)).toMatchObject({ id: personId });
    const facts = (await store.readStream(`person-${personId}`)).slice(-2);
    expect(facts.map((fact) => (fact.kind === 'event' ? fact.event.type : null))).toEqual([
      'SessionStarted',
      'SessionEnded',
    ]);
    expect(facts[0]?.batch).toBe(facts[1]?.batch);
  });

  it('ends also where it was somebody else’s who signs in there now', async () => {
    const { store, one, signIn, session } = await signedIn();
    const bob = randomUUID();
    const actor = { kind: 'plane', id: 'test' } as const;
    await store.decide(person, { stream: personStream(bob) }, { type: 'RegisterPerson', name: 'Bob' }, { actor });
    const { secret } = await issueSignInLink(store, bob);
    await new SignInHandler(store, new InMemoryAttempts()).execute(new SignIn(secret, { replaces: session }));
    await expect(one.authenticate(session, byHand)).rejects.toThrow('not-signed-in');
    expect(await one.authenticate(await signIn('rco_unknown'), byHand)).toMatchObject({ name: 'Ada' });
  });
});
