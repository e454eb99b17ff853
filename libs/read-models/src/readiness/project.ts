import type { Instant } from '@rollcall/decider';
import type { RecordedFact } from '@rollcall/event-store';
import type { Rows } from '../rows.js';
import { machineOf, understand, type Parked } from '../understand.js';

/** Whose a machine is. */
export type ReadinessMachine = {
  readonly machine: string;
  /** The id of a person. */
  readonly owner: string;
  readonly deletedAt: Instant | null;
};

/** A time in which one blocker stood. */
export type Episode = {
  readonly machine: string;
  readonly code: string;
  /** Of the event that began it. */
  readonly sinceRevision: number;
  readonly since: Instant;
  /** null while it stands. */
  readonly until: Instant | null;
};

/** What the projection reads and writes. */
export type ReadinessRows = {
  readonly machines: Rows<ReadinessMachine>;
  /** By machine: what stands, derived from the episodes. */
  readonly standing: Rows<readonly Episode[]>;
  /** By {@link episodeKey}; written and never read. */
  readonly episodes: Pick<Rows<Episode>, 'put'>;
};

/** What tells an episode from all others. */
export const episodeKey = ({ machine, sinceRevision, code }: Episode): string => `${machine} ${sinceRevision} ${code}`;

/**
 * Applies one fact: a blocker that was not said before begins an episode, one that is not said any more ends its own, and the
 * deletion of the machine ends all. A check-in changes nothing: it says what blocks only by an event, when that changes (O25).
 *
 * @returns what could not be used and why, or null
 */
export const project = (rows: ReadinessRows, recorded: RecordedFact): Parked | null => {
  const machine = machineOf(recorded);
  if (machine === null || recorded.kind === 'check-in') return null;
  const { stream, revision, recordedAt } = recorded;
  const understood = understand(recorded);
  if (!understood.understood) return { stream, revision, reason: understood.reason, detail: understood.detail };
  const { fact } = understood;
  const row = rows.machines.get(machine);
  switch (fact.type) {
    case 'MachineAdmitted':
      rows.machines.put(machine, row ?? { machine, owner: fact.owner, deletedAt: null });
      return null;
    case 'BlockersChanged':
    case 'MachineDeleted':
      if (!row) return { stream, revision, reason: 'not-admitted', detail: fact.type };
      // Nothing stands in the way of a machine that is no more.
      if (row.deletedAt !== null) return null;
      if (fact.type === 'MachineDeleted') rows.machines.put(machine, { ...row, deletedAt: recordedAt });
      change(rows, { machine, revision, recordedAt }, fact.type === 'MachineDeleted' ? [] : fact.blockers);
      return null;
    default:
      return null;
  }
};

const change = (
  { standing, episodes }: ReadinessRows,
  { machine, revision, recordedAt }: { machine: string; revision: number; recordedAt: Instant },
  said: readonly string[],
): void => {
  const codes = new Set(said);
  const before = standing.get(machine) ?? [];
  const known = new Set(before.map(({ code }) => code));
  const ended = before
    .filter(({ code }) => !codes.has(code))
    .map((episode): Episode => ({ ...episode, until: recordedAt }));
  const begun = [...codes.difference(known)].map((code): Episode => ({
    machine,
    code,
    sinceRevision: revision,
    since: recordedAt,
    until: null,
  }));
  for (const episode of [...ended, ...begun]) episodes.put(episodeKey(episode), episode);
  standing.put(machine, [...before.filter(({ code }) => codes.has(code)), ...begun]);
};
