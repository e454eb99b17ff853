import { instantOf, type Instant } from '@rollcall/decider';
import type { RecordedFact } from '@rollcall/event-store';
import { DUPLICATE, isPlanesWord, PAUSED, type MachineFact } from '@rollcall/machine';
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
  /** null while it stands, or until something is recorded after it was over by itself. */
  readonly until: Instant | null;
  /** When it is over by itself; null: never. Only a person's pause has that. */
  readonly expiresAt: Instant | null;
};

/** What the projection reads and writes. */
export type ReadinessRows = {
  readonly machines: Rows<ReadinessMachine>;
  /** By machine: what stands, derived from the episodes; a pause may be over by itself. */
  readonly standing: Rows<readonly Episode[]>;
  /** By {@link episodeKey}; written and never read. */
  readonly episodes: Pick<Rows<Episode>, 'put'>;
};

/** What tells an episode from all others. */
export const episodeKey = ({ machine, sinceRevision, code }: Episode): string => `${machine} ${sinceRevision} ${code}`;

/** When an episode ended, as far as a reader has heard; null while it stands. At its expiry it is over, and nothing is recorded then. */
export const endOf = ({ until, expiresAt }: Episode, heardUntil: Instant): Instant | null =>
  until ?? (expiresAt !== null && expiresAt <= heardUntil ? expiresAt : null);

/**
 * Applies one fact: a blocker that was not said before begins an episode, one that is not said any more ends its own, and the
 * deletion of the machine ends all. A check-in changes nothing: it says what blocks only by an event, when that changes (O25). A person's
 * pause and a copy are episodes like them, which nothing that a machine says begins or ends.
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
    case 'MachinePaused':
    case 'MachineResumed':
    case 'CredentialForked':
    case 'GenerationConfirmed':
    case 'MachineDeleted':
      if (!row) return { stream, revision, reason: 'not-admitted', detail: fact.type };
      // Nothing stands in the way of a machine that is no more.
      if (row.deletedAt !== null) return null;
      if (fact.type === 'MachineDeleted') rows.machines.put(machine, { ...row, deletedAt: recordedAt });
      change(rows, machine, recordedAt, (before) => after(fact, before, { machine, revision, recordedAt }));
      return null;
    default:
      return null;
  }
};

type Changing = Extract<
  MachineFact,
  {
    type:
      | 'BlockersChanged'
      | 'MachinePaused'
      | 'MachineResumed'
      | 'CredentialForked'
      | 'GenerationConfirmed'
      | 'MachineDeleted';
  }
>;
type Place = { readonly machine: string; readonly revision: number; readonly recordedAt: Instant };

/** What stands after a fact, by what stood before: episodes that go on, and those that begin. */
const after = (fact: Changing, before: readonly Episode[], place: Place): readonly Episode[] => {
  const without = (wanted: string): readonly Episode[] => before.filter(({ code }) => code !== wanted);
  const begun = (code: string, expiresAt: Instant | null = null): Episode => {
    const { machine, revision, recordedAt } = place;
    return { machine, code, sinceRevision: revision, since: recordedAt, until: null, expiresAt };
  };
  switch (fact.type) {
    case 'BlockersChanged': {
      // A machine that says what only the plane knows has said nothing.
      const codes = new Set(fact.blockers.filter((code) => !isPlanesWord(code)));
      const known = new Set(before.map(({ code }) => code));
      const kept = before.filter(({ code }) => isPlanesWord(code) || codes.has(code));
      return [...kept, ...[...codes.difference(known)].map((code) => begun(code))];
    }
    case 'MachinePaused': {
      const expiresAt = fact.until === null ? null : instantOf(fact.until);
      // Another note or expiry while it is in force: the pause goes on.
      const inForce = before.find((episode) => episode.code === PAUSED && endOf(episode, place.recordedAt) === null);
      return [...without(PAUSED), inForce ? { ...inForce, expiresAt } : begun(PAUSED, expiresAt)];
    }
    case 'MachineResumed':
      return without(PAUSED);
    case 'CredentialForked':
      // Signalled again, while it stands: it goes on.
      return before.some(({ code }) => code === DUPLICATE) ? before : [...before, begun(DUPLICATE)];
    case 'GenerationConfirmed':
      return without(DUPLICATE);
    case 'MachineDeleted':
      return [];
  }
};

/** Ends what does not stand any more, begins what now does, and writes both down. */
const change = (
  { standing, episodes }: ReadinessRows,
  machine: string,
  recordedAt: Instant,
  next: (before: readonly Episode[]) => readonly Episode[],
): void => {
  const before = standing.get(machine) ?? [];
  const now = next(before);
  const stands = new Set(now.map(episodeKey));
  const ended = before
    .filter((episode) => !stands.has(episodeKey(episode)))
    .map((episode): Episode => ({ ...episode, until: endOf(episode, recordedAt) ?? recordedAt }));
  const changed = now.filter((episode) => !before.includes(episode));
  for (const episode of [...ended, ...changed]) episodes.put(episodeKey(episode), episode);
  standing.put(machine, now);
};
