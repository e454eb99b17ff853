import { expect, it } from '@jest/globals';
import { outcomeOf, retryAfterSeconds } from './outcome.js';
import { nextAttemptIn, nextProbeIn } from './schedule.js';

const failures = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const onTheDot = failures.map((attempts) => nextAttemptIn(attempts, 0.5));

it('tries ten times: at once, after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, over three days (U5)', () => {
  expect(onTheDot).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, null]);
  const days = onTheDot.reduce<number>((sum, seconds) => sum + (seconds ?? 0), 0) / 86_400;
  expect(days).toBeGreaterThan(3);
  expect(days).toBeLessThan(3.2);
});

it('comes up to a fifth earlier or later, so that what failed together does not come back together', () => {
  for (const attempts of failures.slice(0, 9)) {
    const middle = nextAttemptIn(attempts, 0.5)!;
    expect(nextAttemptIn(attempts, 0)).toBeCloseTo(middle * 0.8);
    expect(nextAttemptIn(attempts, 0.999_999)).toBeCloseTo(middle * 1.2, 0);
  }
});

it('looks after a paused endpoint after a minute, then after as long as it is away, at least every 15 minutes', () => {
  expect([0, 59, 60, 120, 240, 899, 900, 1_000_000].map(nextProbeIn)).toEqual([60, 60, 60, 120, 240, 899, 900, 900]);
});

it('calls only 2xx a delivery, and follows nothing (C26)', () => {
  const which = (word: string) =>
    [200, 204, 299, 300, 301, 307, 399, 400, 404, 410, 429, 500, 502, 503, 0, 199].filter(
      (status) => outcomeOf(status) === word,
    );
  expect(which('delivered')).toEqual([200, 204, 299]);
  expect(which('redirected')).toEqual([300, 301, 307, 399]);
  expect(which('gone')).toEqual([410]);
  expect(which('throttled')).toEqual([429, 503]);
  expect(which('refused')).toEqual([400, 404, 500, 502, 0, 199]);
});

it('waits as long as a receiver asks, an hour at most, and reads seconds or a date', () => {
  const now = Date.UTC(2026, 0, 1);
  const read = (header?: string) => retryAfterSeconds(header, now);
  expect([read('0'), read('90'), read('3600'), read('3601'), read('999999999')]).toEqual([0, 90, 3_600, 3_600, 3_600]);
  expect(read(new Date(now + 90_000).toUTCString())).toBe(90);
  expect(read(new Date(now - 90_000).toUTCString())).toBe(0);
  expect([read(), read(''), read('soon'), read('-5'), read('1e3'), read('x GMT')]).toEqual(Array(6).fill(null));
});
