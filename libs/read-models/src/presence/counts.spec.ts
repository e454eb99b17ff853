import { expect, it } from '@jest/globals';
import { countMachines, type Alike } from './counts.js';

const NOON = Date.UTC(2026, 10, 29, 12);
const alike = (changes: Partial<Alike>): Alike => ({
  window: 120,
  said: 'running',
  stopReason: null,
  absentSince: null,
  blockers: [],
  pause: null,
  admittedAt: 0,
  deletedAt: null,
  lastCheckAts: [NOON],
  ...changes,
});
const heard = { until: NOON + 150_000, gapEnd: NOON + 140_000 };

it('asks of each machine the rule of presence: a deaf plane makes nobody absent, and nobody present (U3, O22, B1)', () => {
  const recorded = alike({ absentSince: NOON - 1, lastCheckAts: [NOON - 200_000, NOON - 300_000] });
  const { states, total } = countMachines([alike({ lastCheckAts: [NOON, NOON - 900_000, null] }), recorded], heard);
  expect(total).toBe(5);
  expect(states.map(({ presence, machines }) => [presence, machines])).toEqual([
    ['absent', 2],
    ['not-yet-arrived', 1],
    ['present', 2],
  ]);
});

it('counts a pause as a blocker for as long as it is in force (U3)', () => {
  const pause = (until: number) => ({ since: NOON, until, note: 'disk', by: 'ada' });
  const counted = countMachines(
    [alike({ pause: pause(NOON + 60_000) }), alike({ pause: pause(NOON + 600_000) })],
    heard,
  );
  expect(counted).toMatchObject({
    total: 2,
    blocked: 1,
    blockers: [{ code: 'operator-paused', blocksWork: true, machines: 1, present: 1 }],
  });
});
