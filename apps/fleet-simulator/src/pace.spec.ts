import { expect, it } from '@jest/globals';
import { Pace } from './pace.js';

it('spreads the rate evenly, whenever it is asked', () => {
  const pace = new Pace(500, 1_000);
  expect([0, 1_000, 1_001].map((now) => pace.next(now))).toEqual([1_000, 1_002, 1_004]);
  expect(pace.missed).toBe(0);
});

it('does not make up for what could not begin within a second of its time', () => {
  const pace = new Pace(10, 0);
  expect(pace.next(0)).toBe(0);
  expect(pace.next(1_100)).toBe(100);
  expect(pace.next(5_050)).toBe(4_100);
  expect(pace.missed).toBe(39);
  pace.miss();
  expect(pace.missed).toBe(40);
});
