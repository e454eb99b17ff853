import { describe, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import type { StartRotation } from './commands.js';
import { credential } from './credential.js';
import { admit, check, confirmed, deleted, keyHash, registered } from './testing/builders.js';

const given = specFor(credential);

const checkWith = (generation: number) => check({ keyHash: keyHash(generation) });
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
      .thenState({ current: { generation: 2, keyHash: keyHash(2) }, pending: null });
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
    const voided = [registered(1), confirmed(1), registered(2)];
    given(...voided)
      .when(rotateWith(1, 'h3'))
      .then(registered(3, 'h3'));
    given(...voided, registered(3, 'h3'))
      .when(checkWith(2))
      .thenRefused('generation-behind');
    given(...voided, registered(3, 'h3'))
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
      .thenState({ current: { generation: 1, keyHash: keyHash(1) }, pending: null }));

  it('confirms nothing but what is pending', () =>
    given(registered(1), confirmed(1), registered(2), confirmed(1))
      .when(checkWith(1))
      .thenState({ current: { generation: 1, keyHash: keyHash(1) }, pending: { generation: 2, keyHash: keyHash(2) } }));
});
