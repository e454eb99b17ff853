import { expect, it } from '@jest/globals';
import { InMemoryAttempts } from '@rollcall/attempts/testing';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { ensureFirstPerson, issueSignInLink } from '@rollcall/first-person';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { SignIn } from '../session/sign-in/sign-in.command.js';
import { SignInHandler } from '../session/sign-in/sign-in.handler.js';
import { CallerAuthenticator } from './caller-authenticator.js';

const HOUR = 3_600_000;

it('knows a person by their session for twelve hours, also while nothing is recorded, and then nobody; fresh for a quarter of an hour (O3)', async () => {
  const start = Date.UTC(2026, 0, 1, 12);
  const clock = new ManualClock(start);
  const store = new InMemoryEventStore({ now: () => start });
  const authenticator = new CallerAuthenticator(store, clock, 900);
  const { personId } = await ensureFirstPerson(store, { name: 'Ada' });
  const { secret } = await issueSignInLink(store, personId);
  const { session, expiresAt } = await new SignInHandler(store, new InMemoryAttempts()).execute(new SignIn(secret));
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
