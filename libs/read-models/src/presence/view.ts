import { blockerOf, readinessSentence } from '@rollcall/machine';
import type { MachineView, PauseView, RefusedClaimsView } from '@rollcall/wire';
import { conditionOf, pauseInForce, type HeardSoFar } from './condition.js';
import type { PauseRow, PresenceRow, RefusedClaimsRow } from './project.js';

const utc = (instant: number): string => new Date(instant).toISOString();
const utcOrNull = (instant: number | null): string | null => (instant === null ? null : utc(instant));

const pauseView = ({ since, until, note, by }: PauseRow): PauseView => ({
  since: utc(since),
  until: utcOrNull(until),
  note,
  by,
});

const refusedClaimsView = ({ count, first, last, hostname }: RefusedClaimsRow): RefusedClaimsView => ({
  count,
  first: utc(first),
  last: utc(last),
  hostname,
});

/**
 * A machine as every surface shows it: the row, and what follows from it and from what was heard since.
 */
export const machineView = (row: PresenceRow, heard: HeardSoFar): MachineView => {
  const { presence: here, lifecycle: living, stopReason, blockers, codes, canTakeWork } = conditionOf(row, heard);
  const pause = pauseInForce(row, heard);
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
    canTakeWork,
    sentence: readinessSentence({ presence: here, lifecycle: living, stopReason, blockers: codes }),
    requests: {
      logTail: utcOrNull(row.logTailRequested),
      rotation: utcOrNull(row.rotationRequested?.stamp ?? null),
    },
    // The first one of a machine that has not arrived yet is no rotation.
    pendingGeneration: row.generation === null ? null : row.pendingGeneration,
    refusedClaims: row.refusedClaims && refusedClaimsView(row.refusedClaims),
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
