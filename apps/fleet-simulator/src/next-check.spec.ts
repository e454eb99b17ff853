import { expect, it } from '@jest/globals';
import { nextCheck } from './next-check.js';

const lost = { outcome: { kind: 'unanswered' }, status: null, retryAfter: null } as const;
const refused = (retryAfter: number | null) =>
  ({ outcome: { kind: 'refused', code: 'unavailable', highestBoot: null }, status: 503, retryAfter }) as const;
const accepted = (interval: number) => ({
  outcome: { kind: 'accepted', answer: { interval } } as const,
  status: 200,
  retryAfter: null,
});
const course = { interval: 30_000, lost: false };
const waits = (...[reading, from = course]: [Parameters<typeof nextCheck>[0], typeof course?]) =>
  [0, 0.999_999].map((chance) => Math.round(nextCheck(reading, from, () => chance).wait));

it('checks in again at the interval that the plane names, and finds it again when the plane names none (O16)', () => {
  expect(nextCheck(accepted(60), course, () => 0)).toEqual({ course: { interval: 60_000, lost: false }, wait: 60_000 });
  expect(nextCheck(accepted(0), course, () => 0)).toEqual({ course, wait: 30_000 });
});

it('comes back anywhere in the interval when the plane was only just lost, and then at the interval, a tenth to either side (C15)', () => {
  expect(waits(lost)).toEqual([10_000, 30_000]);
  const { course: after } = nextCheck(lost, course, () => 0);
  expect(waits(lost, after)).toEqual([27_000, 33_000]);
  expect(nextCheck(accepted(30), after, () => 0).course).toEqual(course);
});

it('never comes back before a Retry-After is over, and is no later than a fifth of it (C16)', () => {
  expect(waits(refused(60_000))).toEqual([60_000, 72_000]);
  expect(waits(refused(2_000))).toEqual([10_000, 12_000]);
  expect(waits(refused(null))).toEqual([27_000, 33_000]);
});
