import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import type { StartRotation } from './commands.js';
import { credential, generationOf } from './credential.js';
import { admit, check, confirmed, deleted, keyHash, registered, voided } from './testing/builders.js';

const given = specFor(credential);

const checkWith = (generation: number) => check({ keyHash: keyHash(generation) });
const registeredKey = (generation: number) => ({
  generation,
  keyHash: keyHash(generation),
  registeredAt: '2026-01-01T12:00:00.000Z',
});
const rotateWith = (presented: number, next: string): StartRotation => ({
  type: 'StartRotation',
  keyHash: keyHash(presented),
  nextKeyHash: next,
});

describe('a check proves itself with the key alone (O5, O20)', () => {
  it('registers the key that an installation made as generation 1', () => given().when(admit()).then(registered(1)));

  it('takes the first success of a new key as the evidence that it arrived (O19)', () =>
    given(registered(1)).when(checkWith(1)).then(confirmed(1)));

  it('confirms a generation once', () => given(registered(1), confirmed(1)).when(checkWith(1)).thenNothing());

  it('answers a key that nobody registered with credential-unknown (O20)', () =>
    given().when(checkWith(1)).thenRefused('credential-unknown', {}));

  it('answers a retired key with generation-behind (O20)', () =>
    given(registered(1), confirmed(1), registered(2), confirmed(2))
      .when(checkWith(1))
      .thenRefused('generation-behind', {}));

  it.each([
    ['its current key', [registered(1), confirmed(1), deleted()], 1],
    ['a key that was pending', [registered(1), confirmed(1), registered(2), deleted()], 2],
    ['a key that was retired', [registered(1), confirmed(1), registered(2), confirmed(2), deleted()], 1],
    ['a key that was never confirmed', [registered(1), deleted()], 1],
  ])('answers a deleted machine with credential-revoked, for %s (O20, O31)', (_which, past, key) =>
    given(...past)
      .when(checkWith(key))
      .thenRefused('credential-revoked', {}),
  );
});

describe('a rotation keeps the old key until the new one has succeeded once (O19)', () => {
  it('registers the next generation', () =>
    given(registered(1), confirmed(1)).when(rotateWith(1, 'h2')).then(registered(2, 'h2')));

  it('answers a repeated registration of the same hash with the same generation (O19)', () =>
    given(registered(1), confirmed(1), registered(2, 'h2')).when(rotateWith(1, 'h2')).thenNothing());

  it('lets the old key check in while the new one is pending (O19)', () =>
    given(registered(1), confirmed(1), registered(2)).when(checkWith(1)).thenNothing());

  it('cuts the old key when the new one has succeeded once (O19)', () => {
    given(registered(1), confirmed(1), registered(2)).when(checkWith(2)).then(confirmed(2));
    given(registered(1), confirmed(1), registered(2))
      .when(checkWith(2))
      .thenState({ current: registeredKey(2), pending: null });
  });

  it('refuses a retired key, so it cannot found a second line of generations (O19)', () =>
    given(registered(1), confirmed(1), registered(2, 'h2'), confirmed(2))
      .when(rotateWith(1, 'h3'))
      .thenRefused('generation-behind', {}));

  it('refuses a rotation by a key that has not succeeded yet (O19)', () =>
    given(registered(1), confirmed(1), registered(2)).when(rotateWith(2, 'h3')).thenRefused('generation-behind'));

  it('finds the current key registered already', () =>
    given(registered(1), confirmed(1))
      .when(rotateWith(1, keyHash(1)))
      .thenNothing());

  it('never uses the number of a voided generation again (O19)', () => {
    const begun = [registered(1), confirmed(1), registered(2)];
    given(...begun)
      .when(rotateWith(1, 'h3'))
      .then(registered(3, 'h3'));
    given(...begun, registered(3, 'h3'))
      .when(checkWith(2))
      .thenRefused('generation-behind');
    given(...begun, registered(3, 'h3'))
      .when(rotateWith(1, 'h4'))
      .then(registered(4, 'h4'));
  });

  it('refuses a rotation of a deleted machine (O31)', () =>
    given(registered(1), confirmed(1), deleted()).when(rotateWith(1, 'h2')).thenRefused('credential-revoked'));

  it('keeps to the highest number when the record names a lower one', () =>
    given(registered(1), confirmed(1), registered(3), registered(2))
      .when(rotateWith(1, 'h4'))
      .then(registered(4, 'h4')));

  it('confirms nothing where nothing is pending', () =>
    given(registered(1), confirmed(1), confirmed(2))
      .when(checkWith(1))
      .thenState({ current: registeredKey(1), pending: null }));

  it('confirms nothing but what is pending', () =>
    given(registered(1), confirmed(1), registered(2), confirmed(1))
      .when(checkWith(1))
      .thenState({ current: registeredKey(1), pending: registeredKey(2) }));
});

describe('a generation that was not used in time is void (O19)', () => {
  const REGISTERED_AT = Date.UTC(2026, 0, 1, 12);
  const IN_TIME = { now: REGISTERED_AT + 7 * 86_400_000 };
  const TOO_LATE = { now: IN_TIME.now + 1 };
  const begun = [registered(1), confirmed(1), registered(2)];

  it('counts for seven days, to the millisecond', () =>
    given(...begun)
      .when(checkWith(2), IN_TIME)
      .then(confirmed(2)));

  it('is noticed by the next check of the current one, which is accepted as ever', () => {
    given(...begun)
      .when(checkWith(1), IN_TIME)
      .thenNothing();
    given(...begun)
      .when(checkWith(1), TOO_LATE)
      .then(voided(2));
    given(...begun)
      .when(checkWith(1), TOO_LATE)
      .thenState({ current: registeredKey(1), pending: null });
  });

  it('is refused itself, before and after that was noticed', () => {
    given(...begun)
      .when(checkWith(2), TOO_LATE)
      .thenRefused('generation-behind');
    given(...begun, voided(2))
      .when(checkWith(2), TOO_LATE)
      .thenRefused('generation-behind');
  });

  it('gives way to the next registration, under a new number', () => {
    given(...begun)
      .when(rotateWith(1, 'h3'), TOO_LATE)
      .then(voided(2), registered(3, 'h3', '2026-01-08T12:00:00.001Z'));
    given(...begun, voided(2))
      .when(rotateWith(1, 'h3'))
      .then(registered(3, 'h3'));
  });

  it('is never a machine’s only one, which would lock it out (N26)', () =>
    given(registered(1)).when(checkWith(1), TOO_LATE).then(confirmed(1)));

  it('is no generation of which the record does not say when it was registered', () =>
    given(registered(1), confirmed(1), registered(2, keyHash(2), null))
      .when(checkWith(2), TOO_LATE)
      .then(confirmed(2)));

  it('leaves every other one as it is', () =>
    given(...begun, voided(1))
      .when(checkWith(1))
      .thenState({ current: registeredKey(1), pending: registeredKey(2) }));
});

describe('a hash that was registered before', () => {
  const again = (presented: number, next: string): StartRotation => ({ ...rotateWith(presented, next), isKnown: true });

  it('is the same generation while it is pending or current (O19)', () => {
    given(registered(1), confirmed(1), registered(2, 'h2')).when(again(1, 'h2')).thenNothing();
    given(registered(1), confirmed(1))
      .when(again(1, keyHash(1)))
      .thenNothing();
  });

  it.each([
    ['retired', [registered(1, 'h0'), confirmed(1), registered(2, keyHash(1)), confirmed(2)]],
    ['replaced', [registered(1), confirmed(1), registered(2, 'h0'), registered(3, 'h3')]],
    ['voided', [registered(1), confirmed(1), registered(2, 'h0'), voided(2)]],
  ])('does not come to life again when it was %s (O19, C06)', (_what, past) =>
    given(...past)
      .when(again(1, 'h0'))
      .thenRefused('hash-registered-before'),
  );
});

it('knows the number of the current key, of the pending one and of the one that was cut last', () => {
  const state = [
    registered(1),
    confirmed(1),
    registered(2),
    confirmed(2),
    registered(3),
    confirmed(3),
    registered(4),
  ].reduce(credential.evolve, credential.initial());
  expect([4, 3, 2, 1].map((generation) => generationOf(state, keyHash(generation)))).toEqual([4, 3, 2, null]);
});
