import { expect, it } from '@jest/globals';
import { isPromised, nextPromised, promiseState } from './promised.js';

const NOON = Date.UTC(2026, 0, 15, 12);
const HOUR = 3_600_000;
const promise = (...schedules: string[]) => ({ selectors: schedules.map((_, n) => `label:a=${n}`), schedules });

it('is promised where any of the schedules promises it (N11)', () => {
  const both = promise('daily 08:00-10:00 UTC', 'daily 12:00-13:00 UTC');
  expect([isPromised(both, NOON), isPromised(both, NOON - HOUR), isPromised(both, NOON - 3 * HOUR)]).toEqual([
    true,
    false,
    true,
  ]);
  expect(isPromised(promise('none', 'always'), NOON)).toBe(true);
});

it('is not promised without a word, or by the word that nothing is (N11)', () => {
  expect([isPromised(null, NOON), nextPromised(null, NOON)]).toEqual([false, null]);
  expect([isPromised(promise('none'), NOON), nextPromised(promise('none'), NOON)]).toEqual([false, null]);
});

it('is held by who is present, broken by who is not, and neither outside of promised time (N11)', () => {
  const morning = promise('daily 08:00-12:00 UTC');
  expect([promiseState(morning, true, NOON - 1), promiseState(morning, false, NOON - 1)]).toEqual(['held', 'broken']);
  expect([promiseState(morning, true, NOON), promiseState(morning, false, NOON)]).toEqual(['not-now', 'not-now']);
});

it('begins next with the first of the schedules that begins', () => {
  const both = promise('daily 08:00-10:00 UTC', 'daily 20:00-21:00 UTC', 'none');
  expect(nextPromised(both, NOON)).toBe(NOON + 8 * HOUR);
  expect(nextPromised(both, NOON + 10 * HOUR)).toBe(NOON + 20 * HOUR);
});

it('takes no promise from a text that this version cannot read', () => {
  expect([isPromised(promise('by moonlight'), NOON), nextPromised(promise('by moonlight'), NOON)]).toEqual([
    false,
    null,
  ]);
});
