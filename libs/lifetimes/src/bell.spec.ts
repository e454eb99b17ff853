import { expect, it } from '@jest/globals';
import { ManualClock } from './testing/index.js';
import { Bell } from './bell.js';

it('does not lose a ring that came while nobody waited', async () => {
  const clock = new ManualClock();
  const bell = new Bell(clock);
  bell.ring();
  await bell.wait(1_000, new AbortController().signal);
  expect(clock.monotonic()).toBe(0);
});

it('wakes by a ring, by the time and by the end, and leaves no timer behind', async () => {
  const clock = new ManualClock();
  const bell = new Bell(clock);
  const over = new AbortController();
  for (const wake of [() => bell.ring(), () => void clock.advance(1_000), () => over.abort()]) {
    const waiting = bell.wait(1_000, over.signal);
    await clock.whenAsleep();
    wake();
    await waiting;
    expect(clock.sleeping).toBe(0);
  }
});

it('waits again after a ring was heard', async () => {
  const clock = new ManualClock();
  const bell = new Bell(clock);
  bell.ring();
  await bell.wait(1_000, new AbortController().signal);
  const waiting = bell.wait(1_000, new AbortController().signal);
  await clock.whenAsleep();
  await clock.advance(1_000);
  await waiting;
  expect(clock.monotonic()).toBe(1_000);
});
