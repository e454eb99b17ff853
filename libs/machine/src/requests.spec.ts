import { describe, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { requests } from './requests.js';
import {
  confirmed,
  deleted,
  logTailReceived,
  logTailRequested,
  registered,
  rotationRequested,
} from './testing/builders.js';

const given = specFor(requests);
const NOW = Date.UTC(2026, 0, 1, 12);
const request = { type: 'RequestLogTail' } as const;
const receive = (stamp: string) => ({ type: 'ReceiveLogTail', keyHash: 'h1', stamp }) as const;
const AT_NOON = '2026-01-01T12:00:00.000Z';
const A_MOMENT_LATER = '2026-01-01T12:00:00.001Z';

it('stamps a request with the record’s time of the decision (O26)', () =>
  given().when(request, { now: NOW }).then(logTailRequested(AT_NOON)));

it('gives the second request of a millisecond, and one on a clock that stands still, a later stamp (O26)', () => {
  given(logTailRequested(AT_NOON)).when(request, { now: NOW }).then(logTailRequested(A_MOMENT_LATER));
  given(logTailRequested(A_MOMENT_LATER))
    .when(request, { now: NOW - 5_000 })
    .then(logTailRequested('2026-01-01T12:00:00.002Z'));
  given(logTailRequested(AT_NOON), logTailReceived(AT_NOON))
    .when(request, { now: NOW })
    .then(logTailRequested(A_MOMENT_LATER));
});

it('waits until the upload that echoes its stamp, and is answered once (O26, I16)', () => {
  given(logTailRequested(AT_NOON)).when(receive(AT_NOON)).then(logTailReceived(AT_NOON));
  given(logTailRequested(AT_NOON), logTailReceived(AT_NOON))
    .when(receive(AT_NOON))
    .thenRefused('request-not-pending', {});
  given().when(receive(AT_NOON)).thenRefused('request-not-pending', {});
});

it('survives the upload for an older request that it overlaps (O26, I16)', () => {
  const overlapping = [logTailRequested(AT_NOON), logTailRequested(A_MOMENT_LATER)];
  given(...overlapping)
    .when(receive(AT_NOON))
    .thenRefused('request-not-pending', {});
  given(...overlapping)
    .when(receive(A_MOMENT_LATER))
    .thenState({ logTail: null, logTailReceived: A_MOMENT_LATER });
  // Also where an old receipt is recorded, whatever decided it.
  given(...overlapping, logTailReceived(AT_NOON))
    .when(receive(A_MOMENT_LATER))
    .then(logTailReceived(A_MOMENT_LATER));
});

it('ends with the machine (O26, O31)', () =>
  given(logTailRequested(AT_NOON), logTailReceived(AT_NOON), logTailRequested(A_MOMENT_LATER), deleted())
    .when(receive(A_MOMENT_LATER))
    .thenRefused('request-not-pending', {}));

describe('a request to rotate (O19)', () => {
  const rotate = (generation: number) => ({ type: 'RequestRotation', generation }) as const;

  it('is stamped, and names the newest generation that it is to replace', () =>
    given().when(rotate(2), { now: NOW }).then(rotationRequested(AT_NOON, 2)));

  it('waits until a newer generation has succeeded, and no older one answers it', () => {
    const waits = { rotation: { stamp: AT_NOON, generation: 2 } };
    given(rotationRequested(AT_NOON, 2), registered(3), confirmed(2)).when(request, { now: NOW }).thenState(waits);
    given(rotationRequested(AT_NOON, 2), registered(3), confirmed(3))
      .when(request, { now: NOW })
      .thenState({ rotation: null });
  });

  it('asks for nothing more while it waits, and anew afterwards', () => {
    given(rotationRequested(AT_NOON, 2))
      .when(rotate(3), { now: NOW + 1 })
      .thenNothing();
    given(rotationRequested(AT_NOON, 2), confirmed(3))
      .when(rotate(3), { now: NOW + 1 })
      .then(rotationRequested(A_MOMENT_LATER, 3));
  });

  it('and one for the log do not touch each other, and end with the machine', () => {
    given(rotationRequested(AT_NOON, 1), logTailRequested(AT_NOON), logTailReceived(AT_NOON))
      .when(rotate(1))
      .thenNothing();
    given(rotationRequested(AT_NOON, 1), deleted()).when(rotate(1), { now: NOW }).then(rotationRequested(AT_NOON, 1));
  });
});
