import { expect, it } from '@jest/globals';
import { Tally } from './tally.js';

const RUN = { seed: 1, machines: 2, missed: 3 };

it('measures the longest time without an accepted answer, the beginning and the end of the run included', () => {
  const pauseOf = (accepted: readonly number[], end: number) => {
    const tally = new Tally(1_000);
    for (const at of accepted) tally.accepted(at, at);
    tally.end(end);
    return tally.report(RUN).longestPause;
  };
  expect(pauseOf([1_100, 1_700, 1_800], 2_000)).toBe(600);
  expect(pauseOf([1_900], 2_000)).toBe(900);
  expect(pauseOf([1_100], 2_000)).toBe(900);
  expect(pauseOf([], 2_000)).toBe(1_000);
});

it('lets an answer that came after the end neither make a pause nor end one', () => {
  const tally = new Tally(0);
  tally.accepted(100, 100);
  tally.end(200);
  tally.accepted(190, 9_000);
  expect(tally.report(RUN)).toMatchObject({ longestPause: 100, seconds: 0.2 });
});

it('counts by outcome, and latency from the moment that a check was due', () => {
  const tally = new Tally(0);
  for (let at = 1; at <= 100; at += 1) {
    tally.accepted(at * 10, at * 10 + at);
    tally.count('accepted');
  }
  tally.count('refused: unavailable');
  tally.happened('restart');
  tally.end(2_000);
  const { latency, ...report } = tally.report(RUN);
  expect(report).toMatchObject({
    ...RUN,
    accepted: 100,
    acceptedPerSecond: 50,
    outcomes: { accepted: 100, 'refused: unavailable': 1 },
    life: { restart: 1, goodbye: 0, blockers: 0, hostname: 0 },
  });
  expect(latency.p50).toBeCloseTo(50, 0);
  expect(latency.p99).toBeCloseTo(99, 0);
  expect(latency.max).toBeCloseTo(100, 0);
});
