import { expect, it } from '@jest/globals';
import { heardSince } from './time-heard.js';

const at = (minute: number) => minute * 60_000;
const deaf = (from: number, until: number) => ({ from: at(from), until: at(until) });

it('counts back the time in which the plane has listened, and none in which it was deaf (U5, B1)', () => {
  expect(heardSince(600, at(100), [])).toBe(at(90));
  // Not reached, just reached, and in the middle of what is counted.
  expect(heardSince(600, at(100), [deaf(50, 80)])).toBe(at(90));
  expect(heardSince(600, at(100), [deaf(50, 90)])).toBe(at(90));
  expect(heardSince(600, at(100), [deaf(50, 95)])).toBe(at(45));
  expect(heardSince(600, at(100), [deaf(50, 95), deaf(20, 48)])).toBe(at(17));
});

it('makes nothing older by a clock that is put forward, however far, nor by days in which nothing ran (U5)', () => {
  const aMonth = 30 * 24 * 60;
  expect(heardSince(600, at(aMonth + 5), [deaf(0, aMonth)])).toBe(at(-5));
});
