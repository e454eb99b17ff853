import { expect, it } from '@jest/globals';
import { encodeBatch, encodeBatchWithoutFacts, type Batch } from '@rollcall/event-store';
import fc from 'fast-check';
import { sortArrivals } from './arrivals.js';

const EPOCH = 'epoch-1';
const batch = (number: number): Batch => ({
  number: BigInt(number),
  recordedAt: number * 1_000,
  facts: [],
  trace: null,
});
const delivery = (number: number, body = encodeBatch(EPOCH, batch(number)), epoch = EPOCH) => ({
  epoch,
  number: BigInt(number),
  body,
});
const at = (checkpoint: number) => ({ epoch: EPOCH, checkpoint: BigInt(checkpoint) });

it('takes what follows the checkpoint, whatever the order of arrival (C25)', () =>
  expect(sortArrivals(at(9), [delivery(11), delivery(10), delivery(12)])).toEqual({
    next: [batch(10), batch(11), batch(12)],
    missingUpTo: null,
  }));

it('passes over what was seen, however often it comes (C25)', () =>
  expect(sortArrivals(at(11), [delivery(10), delivery(11), delivery(10)])).toEqual({ next: [], missingUpTo: null }));

it('takes each batch once when it comes three times (C25)', () =>
  expect(sortArrivals(at(9), [delivery(10), delivery(10), delivery(10)]).next).toEqual([batch(10)]));

it('stops at a hole and says up to where the record has to be read (C25)', () =>
  expect(sortArrivals(at(9), [delivery(10), delivery(14), delivery(12)])).toEqual({
    next: [batch(10)],
    missingUpTo: 14n,
  }));

it.each([
  ['whose facts did not travel', encodeBatchWithoutFacts(EPOCH, batch(10))],
  ['that was damaged', '{"torn'],
  ['that is another one inside', encodeBatch(EPOCH, batch(11))],
])('has a batch %s read from the record', (_, body) =>
  expect(sortArrivals(at(9), [delivery(10, body), delivery(11)])).toEqual({ next: [], missingUpTo: 11n }),
);

it('takes nothing of another record (C24)', () =>
  expect(sortArrivals(at(9), [delivery(10, undefined, 'epoch-0')])).toEqual({ next: [], missingUpTo: null }));

it('never jumps, never goes back, and leaves out nothing that arrived (I6)', () =>
  fc.assert(
    fc.property(fc.nat(20), fc.array(fc.integer({ min: 1, max: 25 })), (checkpoint, numbers) => {
      const { next, missingUpTo } = sortArrivals(
        at(checkpoint),
        numbers.map((number) => delivery(number)),
      );
      next.forEach(({ number }, index) => expect(number).toBe(BigInt(checkpoint + 1 + index)));
      const end = checkpoint + next.length;
      const beyond = numbers.filter((number) => number > end);
      expect(missingUpTo).toBe(beyond.length > 0 ? BigInt(Math.max(...beyond)) : null);
      expect(numbers).not.toContain(end + 1);
    }),
  ));
