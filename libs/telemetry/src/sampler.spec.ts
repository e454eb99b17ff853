import { expect, it } from '@jest/globals';
import { sampler } from './sampler.js';

/** mulberry32: the same numbers for the same seed. */
const seeded = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

const DRAWS = 100_000;
const taken = (share: number) => {
  const sampled = sampler(share, seeded(7));
  return Array.from({ length: DRAWS }, () => sampled());
};

it('takes the share of requests that it was told, none and all included', () => {
  for (const share of [0, 0.01, 0.25, 1]) {
    const found = taken(share).filter(Boolean).length / DRAWS;
    expect(Math.abs(found - share)).toBeLessThanOrEqual(share === 0 || share === 1 ? 0 : 0.005);
  }
});

it('takes each by itself: one that was taken says nothing of the next', () => {
  const draws = taken(0.25);
  const afterTaken = draws.filter((_, index) => draws[index - 1]);
  expect(afterTaken.filter(Boolean).length / afterTaken.length).toBeCloseTo(0.25, 1);
});
