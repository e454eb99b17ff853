import {
  blockerOf,
  canTakeWork,
  lifecycle,
  PAUSED,
  presence,
  readinessSentence,
  type Presence,
} from '@rollcall/machine';
import type { MachineView, PauseView } from '@rollcall/wire';
import type { Heard } from '../snapshot.js';
import type { StandingBlocker } from '../standing.js';
import type { PauseRow, PresenceRow } from './project.js';

const utc = (instant: number): string => new Date(instant).toISOString();
const utcOrNull = (instant: number | null): string | null => (instant === null ? null : utc(instant));

/** How far a reader has heard. */
type HeardSoFar = Pick<Heard, 'until' | 'gapEnd'>;

/** Whether a machine is heard from, as of what the reader has heard. */
export const presenceOf = (row: PresenceRow, heard: HeardSoFar): Presence =>
  // A row exists only after a batch was applied.
  presence(heard.until ?? row.admittedAt, {
    lastCheckAt: row.lastCheckAt,
    window: row.window,
    gapEnd: heard.gapEnd,
    absentSince: row.absentSince,
  });

/** The pause, as long as it is in force. */
const pauseInForce = ({ pause }: PresenceRow, heard: HeardSoFar): PauseRow | null =>
  pause !== null && (pause.until === null || (heard.until ?? pause.since) < pause.until) ? pause : null;

/** What the machine says keeps it from work, and what a person says, by code. */
const standingBlockers = (row: PresenceRow, heard: HeardSoFar): readonly StandingBlocker[] => {
  const pause = pauseInForce(row, heard);
  if (pause === null) return row.blockers;
  return [...row.blockers, { code: PAUSED, since: pause.since }].sort((one, other) => (one.code < other.code ? -1 : 1));
};

const pauseView = ({ since, until, note, by }: PauseRow): PauseView => ({
  since: utc(since),
  until: utcOrNull(until),
  note,
  by,
});

/**
 * A machine as every surface shows it: the row, and what follows from it and from what was heard since.
 */
export const machineView = (row: PresenceRow, heard: HeardSoFar): MachineView => {
  const here = presenceOf(row, heard);
  const living = lifecycle({ said: row.said, presence: here, deleted: row.deletedAt !== null });
  const { stopReason } = row;
  const blockers = standingBlockers(row, heard);
  const pause = pauseInForce(row, heard);
  const codes = blockers.map(({ code }) => code);
  return {
    id: row.machine,
    name: row.name,
    hostname: row.hostname,
    presence: here,
    lastCheckAt: utcOrNull(row.lastCheckAt),
    lifecycle: living,
    stopReason,
    blockers: blockers.map(({ code, since }) => {
      const { sentence, fix, blocksWork } = blockerOf(code);
      return { code, since: utc(since), sentence, fix, blocksWork };
    }),
    canTakeWork: canTakeWork({ presence: here, lifecycle: living, blockers: codes }),
    sentence: readinessSentence({ presence: here, lifecycle: living, stopReason, blockers: codes }),
    requests: { logTail: utcOrNull(row.logTailRequested) },
    absentSince: utcOrNull(row.absentSince),
    pause: pause === null ? null : pauseView(pause),
    labels: row.labels,
    agentVersion: row.agentVersion,
    platform: row.platform,
    owner: row.owner,
    generation: row.generation,
    window: row.window,
    admittedAt: utc(row.admittedAt),
    deletedAt: utcOrNull(row.deletedAt),
    revision: row.revision,
  };
};
