import { expect, it } from '@jest/globals';
import { notBefore } from './not-before.js';
import { ManualClock } from './testing/index.js';

const FLOOR_MS = 50;

it.each([
  ['a success', () => Promise.resolve('in')],
  ['a refusal', () => Promise.reject(new Error('refused'))],
])('tells %s no sooner than the floor, and at once then (O12)', async (_, work) => {
  const clock = new ManualClock();
  let told = false;
  const outcome = notBefore(clock, FLOOR_MS, work).catch((error: Error) => error.message);
  void outcome.finally(() => (told = true));
  await clock.advance(FLOOR_MS - 1);
  expect(told).toBe(false);
  await clock.advance(1);
  expect(told).toBe(true);
  expect(['in', 'refused']).toContain(await outcome);
});

it('waits for work that takes longer, and adds nothing to it', async () => {
  const clock = new ManualClock();
  const work = Promise.withResolvers<string>();
  const outcome = notBefore(clock, FLOOR_MS, () => work.promise);
  await clock.advance(FLOOR_MS);
  work.resolve('late');
  expect([await outcome, clock.sleeping]).toEqual(['late', 0]);
});
