import { SystemClock, withDeadline } from '@rollcall/lifetimes';
import { BLOCKER_CODES } from '@rollcall/machine';
import { HistoryQueries, MachineQueries } from '@rollcall/read-models';
import type { Meter } from '@rollcall/telemetry';
import type { LifecycleWord, PresenceWord, StateCount } from '@rollcall/wire';
import type { Connections } from './connections.js';

/** What a machine that is not deleted can be; each is told at each scrape, or it would stay as it was told last. */
const STATES: readonly (readonly [PresenceWord, LifecycleWord | null, boolean])[] = [
  ['not-yet-arrived', null, false],
  ['present', 'running', true],
  ['present', 'running', false],
  ['present', 'stopping', false],
  ['absent', 'unknown', false],
  ['absent', 'stopped', false],
];

/** A code of a newer agent is a word of a machine, and no label. */
const OTHER = 'other';

/**
 * Measures how many machines are what, each time that somebody asks, as of what the read model of presence has heard: so every instance tells the same,
 * and a projector that stands still tells an old truth, with the time that it is of.
 *
 * @param withinMs what takes longer is not told
 */
export const measureMachines = (meter: Meter, { database, store }: Connections, withinMs: number): void => {
  type Labels = { presence?: string; lifecycle?: string; can_take_work?: string; code?: string; change?: string };
  const gauge = (name: string, description: string) => meter.createObservableGauge<Labels>(name, { description });
  const machines = gauge('rollcall_machines', 'Machines that are not deleted, by what they are');
  const blockers = gauge('rollcall_blocker_machines', 'Machines that are present and on which a blocker stands');
  const recent = gauge('rollcall_recent_silences', 'Absences and returns in the newest minute of the record');
  const heard = gauge('rollcall_machines_heard_timestamp_seconds', 'The time of the record that these numbers are of');
  const look = async () => {
    const counted = await new MachineQueries(database, store).count();
    return { counted, silences: await new HistoryQueries(database, store).recentSilences() };
  };
  meter.addBatchObservableCallback<Labels>(
    async (result) => {
      const seen = await withDeadline(new SystemClock(), withinMs, look).catch(() => null);
      const { states, blockers: stand, asOf } = seen?.counted ?? { states: [], blockers: [], asOf: null };
      const count = (value: number | undefined): number => (seen === null ? NaN : (value ?? 0));
      for (const [presence, lifecycle, canTakeWork] of STATES) {
        const isMeant = (state: StateCount): boolean =>
          state.presence === presence && state.lifecycle === lifecycle && state.canTakeWork === canTakeWork;
        const labels = { presence, lifecycle: lifecycle ?? 'none', can_take_work: String(canTakeWork) };
        result.observe(machines, count(states.find(isMeant)?.machines), labels);
      }
      for (const code of [...BLOCKER_CODES, OTHER]) {
        const standing = stand.filter((one) => (BLOCKER_CODES.includes(one.code) ? one.code : OTHER) === code);
        result.observe(blockers, count(standing.reduce((sum, { present }) => sum + present, 0)), { code });
      }
      result.observe(recent, count(seen?.silences.absences), { change: 'absence' });
      result.observe(recent, count(seen?.silences.returns), { change: 'return' });
      result.observe(heard, asOf === null ? NaN : Date.parse(asOf) / 1_000);
    },
    [machines, blockers, recent, heard],
  );
};
