import type { Instant } from '@rollcall/decider';
import type { RecordedFact } from '@rollcall/event-store';
import { machineOf } from '../understand.js';

/** What a fact is to the watch: look at the machine from a time on, or not any more. */
export type WatchChange = { readonly machine: string; readonly lookFrom: Instant | null };

/**
 * Who is watched: a machine from the first check of each start of its agent, or from its return, until its absence is recorded or it is
 * deleted. A check-in changes nothing, however many there are: a row that is there has been looked at in time, see {@link AbsenceWatch}.
 */
export const watchChange = (recorded: RecordedFact): WatchChange | null => {
  const machine = machineOf(recorded);
  if (machine === null || recorded.kind === 'check-in') return null;
  switch (recorded.event.type) {
    case 'AgentStarted':
    case 'Returned':
      return { machine, lookFrom: recorded.recordedAt };
    case 'WentAbsent':
    case 'MachineDeleted':
      return { machine, lookFrom: null };
    default:
      return null;
  }
};
