import { blockerOf, canTakeWork, lifecycle, presence, readinessSentence } from '@rollcall/machine';
import type { MachineView } from '@rollcall/wire';
import type { Heard } from '../snapshot.js';
import type { PresenceRow } from './project.js';

const utc = (instant: number): string => new Date(instant).toISOString();
const utcOrNull = (instant: number | null): string | null => (instant === null ? null : utc(instant));

/**
 * A machine as every surface shows it: the row, and what follows from it and from what was heard since.
 */
export const machineView = (row: PresenceRow, heard: Pick<Heard, 'until' | 'gapEnd'>): MachineView => {
  // A row exists only after a batch was applied.
  const here = presence(heard.until ?? row.admittedAt, {
    lastCheckAt: row.lastCheckAt,
    window: row.window,
    gapEnd: heard.gapEnd,
  });
  const living = lifecycle({ said: row.said, presence: here, deleted: row.deletedAt !== null });
  const { stopReason } = row;
  const codes = row.blockers.map(({ code }) => code);
  return {
    id: row.machine,
    name: row.name,
    hostname: row.hostname,
    presence: here,
    lastCheckAt: utcOrNull(row.lastCheckAt),
    lifecycle: living,
    stopReason,
    blockers: row.blockers.map(({ code, since }) => {
      const { sentence, fix, blocksWork } = blockerOf(code);
      return { code, since: utc(since), sentence, fix, blocksWork };
    }),
    canTakeWork: canTakeWork({ presence: here, lifecycle: living, blockers: codes }),
    sentence: readinessSentence({ presence: here, lifecycle: living, stopReason, blockers: codes }),
    requests: { logTail: utcOrNull(row.logTailRequested) },
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
