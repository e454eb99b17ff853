import { it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { requests } from './requests.js';
import { deleted, logTailReceived, logTailRequested } from './testing/builders.js';

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
