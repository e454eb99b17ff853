import { describe, expect, it } from '@jest/globals';
import { retryAfterOf } from './retry-after.js';
import { firstAfterLoss, heldOff, LIMITS, paceOf, repetition, unknownAgain } from './schedule.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const httpDate = (ms: number) => new Date(ms).toUTCString();
const extremes = [() => 0, () => 0.999_999];

describe('the interval of an answer', () => {
  it.each([[0], [-5], [null], ['abc'], [undefined], [Number.NaN], [Infinity], ['30'], [{}]])(
    'keeps the last good one for %p (O16, C10)',
    (offered) => expect(paceOf(offered, 30_000, LIMITS)).toEqual({ wait: 30_000, lastGood: 30_000 }),
  );

  it.each([
    [0.001, 10_000],
    [9.999, 10_000],
    [1e9, 3_600_000],
    [3_601, 3_600_000],
  ])('follows %p as far as the bounds allow, and does not remember it (C10)', (offered, wait) =>
    expect(paceOf(offered, 30_000, LIMITS)).toEqual({ wait, lastGood: 30_000 }),
  );

  it.each([
    [10, 10_000],
    [45, 45_000],
    [3_600, 3_600_000],
  ])('follows and remembers %p (O16)', (offered, wait) =>
    expect(paceOf(offered, 30_000, LIMITS)).toEqual({ wait, lastGood: wait }),
  );
});

describe('a repetition', () => {
  it('comes at the interval, a tenth to either side, never under the floor', () => {
    expect(extremes.map((chance) => Math.round(repetition(30_000, chance, LIMITS)))).toEqual([27_000, 33_000]);
    expect(repetition(10_000, () => 0, LIMITS)).toBe(10_000);
  });

  it('comes anywhere in the interval, but not under the floor, when the plane was only just lost', () => {
    expect(extremes.map((chance) => Math.round(firstAfterLoss(30_000, chance, LIMITS)))).toEqual([10_000, 30_000]);
    expect(firstAfterLoss(30_000, () => 0.5, LIMITS)).toBe(15_000);
  });

  it('of an installation that the plane does not know doubles up to a quarter of an hour (O20)', () => {
    expect([1, 2, 3, 4, 5, 6, 1_000].map((times) => unknownAgain(30_000, times, LIMITS) / 1_000)).toEqual([
      60, 120, 240, 480, 900, 900, 900,
    ]);
  });
});

describe('Retry-After', () => {
  // The table of the case: what the header says, the soonest and the latest next request in seconds; null: our own pace.
  it.each<[string, string[], [number, number] | null]>([
    ['7', ['7'], [10, 12]],
    ['a date 90 s ahead', [httpDate(NOW + 90_000)], [90, 108]],
    ['-5', ['-5'], [10, 12]],
    ['0', ['0'], [10, 12]],
    ['banana', ['banana'], null],
    ['banana 1', ['banana 1'], null],
    ['86400', ['86400'], [300, 300]],
    ['a past date', [httpDate(NOW - 90_000)], [10, 12]],
    ['two headers 20 and 40', ['20', '40'], [40, 48]],
    ['the two joined by a proxy', ['20, 40'], [40, 48]],
    ['nothing', [], null],
    ['an empty one', [''], null],
    ['garbage beside a number', ['banana', '40'], [40, 48]],
    ['a number beyond all numbers', ['9'.repeat(15)], [300, 300]],
  ])('of %s is obeyed with jitter only upwards, between the floor and the cap (C16)', (_, headers, expected) => {
    const asked = retryAfterOf(headers, undefined, NOW);
    const waits = asked === null ? null : extremes.map((chance) => Math.round(heldOff(asked, chance, LIMITS) / 1_000));
    expect(waits).toEqual(expected);
  });

  it('as a date is compared with the date of the answer, so a wrong clock here does not matter (C13)', () => {
    const anHourBehind = NOW - 3_600_000;
    expect(retryAfterOf([httpDate(NOW + 90_000)], httpDate(NOW), anHourBehind)).toBe(90_000);
  });
});
