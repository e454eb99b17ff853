import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { ensureFirstPerson } from './ensure-first-person.js';
import { issueSignInLink, signInAddress } from './sign-in-link.js';

it('makes exactly one first person, however many start at once, and the first name stays', async () => {
  const store = new InMemoryEventStore();
  const started = await Promise.all(['Ada', 'Bob', 'Eve'].map((name) => ensureFirstPerson(store, { name })));
  expect(new Set(started.map(({ personId }) => personId)).size).toBe(1);
  expect(await ensureFirstPerson(store, { name: 'Mallory' })).toEqual(started[0]);
  const facts = (await store.readBatches(0n, 10)).flatMap((batch) => batch.facts);
  expect(facts).toHaveLength(1);
  await store.close();
});

it('issues a link whose secret is not recorded, and writes it as people paste it', async () => {
  const store = new InMemoryEventStore({ now: () => Date.UTC(2026, 0, 1, 12) });
  const { personId } = await ensureFirstPerson(store, { name: 'Ada' });
  const { secret, expiresAt } = await issueSignInLink(store, personId);
  expect(expiresAt.toISOString()).toBe('2026-01-01T13:00:00.000Z');
  const recorded = JSON.stringify(await store.readStream(`person-${personId}`), (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  expect(recorded).not.toContain(secret);
  const pin = Buffer.alloc(32, 255);
  const place = { operatorApi: 'https://127.0.0.1:8444', pins: [`sha256/${pin.toString('base64')}`] };
  expect(signInAddress(secret, place)).toBe(`https://127.0.0.1:8444/sign-in#${secret}.${pin.toString('base64url')}`);
  expect(signInAddress(secret, { ...place, pins: [] })).toBe(`https://127.0.0.1:8444/sign-in#${secret}`);
  await store.close();
});
