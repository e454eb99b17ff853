import type { Instant } from '@rollcall/decider';
import { blockerOf, presence, type Presence } from '@rollcall/machine';
import type { PresenceCounts, StateCount } from '@rollcall/wire';
import type { Heard } from '../snapshot.js';
import type { PresenceRow } from './project.js';
import { conditionOf, isWanted, type MachineCondition, type Wanted } from './condition.js';

/** Machines whose rows differ in nothing that a count looks at, but in when they checked in last. */
export type Alike = Pick<
  PresenceRow,
  'window' | 'said' | 'stopReason' | 'absentSince' | 'blockers' | 'pause' | 'admittedAt' | 'deletedAt'
> & { readonly lastCheckAts: readonly (Instant | null)[] };

/**
 * Counts machines by their three answers and by what blocks them, of those that are wanted. Presence is asked of each by the one rule
 * that there is for it, and everything else once for all who are alike: so the time of last checks is all that is read of a machine.
 */
export const countMachines = (
  groups: Iterable<Alike>,
  heard: Pick<Heard, 'until' | 'gapEnd'>,
  wanted: Wanted = {},
): PresenceCounts => {
  const states = new Map<string, StateCount>();
  const blockers = new Map<string, { machines: number; present: number }>();
  let [total, blocked] = [0, 0];
  const add = (condition: MachineCondition, machines: number): void => {
    total += machines;
    if (condition.isBlocked) blocked += machines;
    const { presence: here, lifecycle, canTakeWork } = condition;
    const state = `${here} ${lifecycle} ${canTakeWork}`;
    const before = states.get(state)?.machines ?? 0;
    states.set(state, { presence: here, lifecycle, canTakeWork, machines: before + machines });
    for (const code of new Set(condition.codes)) {
      const stands = blockers.get(code) ?? { machines: 0, present: 0 };
      stands.machines += machines;
      if (here === 'present') stands.present += machines;
      blockers.set(code, stands);
    }
  };
  for (const { lastCheckAts, ...alike } of groups) {
    for (const [lastCheckAt, machines] of byPresence(alike, lastCheckAts, heard)) {
      const condition = conditionOf({ ...alike, lastCheckAt }, heard);
      if (isWanted(condition, wanted)) add(condition, machines);
    }
  }
  return {
    total,
    blocked,
    states: sorted(states),
    blockers: sorted(
      blockers
        .entries()
        .map(([code, stands]): [string, PresenceCounts['blockers'][number]] => [
          code,
          { code, blocksWork: blockerOf(code).blocksWork, ...stands },
        ]),
    ),
  };
};

/** One of the last checks for each presence, and how many have it. */
const byPresence = (
  { window, absentSince, admittedAt }: Omit<Alike, 'lastCheckAts'>,
  lastCheckAts: readonly (Instant | null)[],
  { until, gapEnd }: Pick<Heard, 'until' | 'gapEnd'>,
): Iterable<readonly [lastCheckAt: Instant | null, machines: number]> => {
  const found = new Map<Presence, [Instant | null, number]>();
  for (const lastCheckAt of lastCheckAts) {
    const here = presence(until ?? admittedAt, { lastCheckAt, window, gapEnd, absentSince });
    const one = found.get(here);
    if (one) one[1] += 1;
    else found.set(here, [lastCheckAt, 1]);
  }
  return found.values();
};

const sorted = <Value>(entries: Iterable<readonly [string, Value]>): Value[] =>
  [...entries].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);
