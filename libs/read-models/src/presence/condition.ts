import { canTakeWork, isBlocked, lifecycle, PAUSED, presence, type Condition, type Presence } from '@rollcall/machine';
import type { LifecycleWord, PresenceWord } from '@rollcall/wire';
import type { Heard } from '../snapshot.js';
import type { StandingBlocker } from '../standing.js';
import type { PauseRow, PresenceRow } from './project.js';

/** How far a reader has heard. */
export type HeardSoFar = Pick<Heard, 'until' | 'gapEnd'>;

/** What of a row the three answers rest on. */
export type ConditionRow = Pick<
  PresenceRow,
  'lastCheckAt' | 'window' | 'absentSince' | 'admittedAt' | 'said' | 'stopReason' | 'blockers' | 'pause' | 'deletedAt'
>;

/** The three answers about a machine, and what follows from them. */
export type MachineCondition = Omit<Condition, 'blockers'> & {
  /** What the machine says keeps it from work, and what a person says, by code. */
  readonly blockers: readonly StandingBlocker[];
  readonly codes: readonly string[];
  readonly canTakeWork: boolean;
  readonly isBlocked: boolean;
};

/** Whether a machine is heard from, as of what the reader has heard. */
export const presenceOf = (
  row: Pick<ConditionRow, 'lastCheckAt' | 'window' | 'absentSince' | 'admittedAt'>,
  heard: HeardSoFar,
): Presence =>
  // A row exists only after a batch was applied.
  presence(heard.until ?? row.admittedAt, {
    lastCheckAt: row.lastCheckAt,
    window: row.window,
    gapEnd: heard.gapEnd,
    absentSince: row.absentSince,
  });

/** The pause, as long as it is in force. */
export const pauseInForce = ({ pause }: Pick<ConditionRow, 'pause'>, heard: HeardSoFar): PauseRow | null =>
  pause !== null && (pause.until === null || (heard.until ?? pause.since) < pause.until) ? pause : null;

const standingBlockers = (row: ConditionRow, heard: HeardSoFar): readonly StandingBlocker[] => {
  const pause = pauseInForce(row, heard);
  if (pause === null) return row.blockers;
  return [...row.blockers, { code: PAUSED, since: pause.since }].sort((one, other) => (one.code < other.code ? -1 : 1));
};

/** What a machine is, as of what the reader has heard: what every surface says of it, and what it is counted as. */
export const conditionOf = (row: ConditionRow, heard: HeardSoFar): MachineCondition => {
  const here = presenceOf(row, heard);
  const living = lifecycle({ said: row.said, presence: here, deleted: row.deletedAt !== null });
  const blockers = standingBlockers(row, heard);
  const codes = blockers.map(({ code }) => code);
  const answers = { presence: here, lifecycle: living, blockers: codes };
  return {
    presence: here,
    lifecycle: living,
    stopReason: row.stopReason,
    blockers,
    codes,
    canTakeWork: canTakeWork(answers),
    isBlocked: isBlocked(answers),
  };
};

/** Which machines, by what they are. */
export type Wanted = {
  readonly presence?: PresenceWord;
  readonly lifecycle?: LifecycleWord;
  /** Only those on which this blocker stands, present or not. */
  readonly blocker?: string;
  /** Only those that are present, but cannot take work (O32). (Default: false) */
  readonly blocked?: boolean;
};

/** Whether a machine is one of those that are asked for. */
export const isWanted = (
  { presence: here, lifecycle: living, codes, isBlocked: held }: MachineCondition,
  { presence: wantedPresence, lifecycle: wantedLifecycle, blocker, blocked }: Wanted,
): boolean =>
  (wantedPresence === undefined || here === wantedPresence) &&
  (wantedLifecycle === undefined || living === wantedLifecycle) &&
  (blocker === undefined || codes.includes(blocker)) &&
  (blocked !== true || held);
