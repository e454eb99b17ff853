import { expect, it } from '@jest/globals';
import { CODE_FLOOR_MS, code, codeStream, userCodeKey } from '@rollcall/admission';
import { InMemoryAttempts } from '@rollcall/attempts/testing';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { hashOf } from '@rollcall/wire';
import { TypedCodes } from './typed-codes.js';

it.each([
  ['one that waits', 'BCDF-GHJK'],
  ['one that never was', 'ZZZZ-ZZZZ'],
  ['what is no code at all', 'hello'],
])('tells a person of %s no sooner than of any other code (O12)', async (_, typed) => {
  const store = new InMemoryEventStore();
  const request = {
    type: 'RequestCode',
    userCodeHash: hashOf('BCDF-GHJK'),
    deviceCodeHash: hashOf('d'),
    identifierHash: hashOf('i'),
    keyHash: hashOf('k'),
    report: { hostname: null, agentVersion: null, platform: null, arch: null },
  } as const;
  await store.decide(code, { stream: codeStream('1') }, request, { actor: { kind: 'plane', id: 'test' } });
  const clock = new ManualClock();
  const codes = new TypedCodes(store, new InMemoryAttempts(), clock);
  const told = codes
    .withTyped({ decider: code, keyOf: userCodeKey }, { typed, sessionId: 's' }, () => 'found')
    .catch((error: { readonly code?: string }) => error.code);
  expect(clock.sleeping).toBe(1);
  await clock.advance(CODE_FLOOR_MS);
  expect(await told).toBe(typed === 'BCDF-GHJK' ? 'found' : 'code-refused');
  await store.close();
});
