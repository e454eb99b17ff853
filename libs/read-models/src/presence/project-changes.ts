import type { Instant } from '@rollcall/decider';
import type { RecordedFact } from '@rollcall/event-store';
import type { Rows } from '../rows.js';
import { machineOf, type Parked } from '../understand.js';
import { project, type PresenceRow } from './project.js';

/** A machine as it was after the facts of one batch, of which at least one changed what is shown of it. */
export type ChangeRow = {
  readonly owner: string;
  readonly batch: bigint;
  readonly machine: string;
  /** When the batch was recorded. */
  readonly at: Instant;
  readonly shown: PresenceRow;
};

/** What tells a change from all others. */
export const changeKey = ({ batch, machine }: Pick<ChangeRow, 'batch' | 'machine'>): string => `${batch} ${machine}`;

/**
 * Applies one fact to the row of its machine, and keeps the row as a change where the fact says something new. What was heard once more and nothing
 * else is nothing new: most checks are of that kind. A batch has one change of a machine at most, and it shows the machine after all of the batch.
 */
export const projectWithChanges = (
  rows: Rows<PresenceRow>,
  changes: Rows<ChangeRow>,
  recorded: RecordedFact,
): Parked | null => {
  const machine = machineOf(recorded);
  if (machine === null) return null;
  const before = rows.get(machine);
  const parked = project(rows, recorded);
  const shown = rows.get(machine);
  if (shown === undefined || shown === before) return parked;
  const { batch, recordedAt: at } = recorded;
  const change: ChangeRow = { owner: shown.owner, batch, machine, at, shown };
  const key = changeKey(change);
  if (isNews(before, shown) || changes.get(key) !== undefined) changes.put(key, change);
  return parked;
};

/** These move with every check. */
const HEARD: ReadonlySet<string> = new Set(['lastCheckAt', 'revision'] satisfies (keyof PresenceRow)[]);

/** Whether two rows of a machine differ in more than when it was heard. What is no text and no number is another object only where a fact has changed it. */
const isNews = (before: PresenceRow | undefined, after: PresenceRow): boolean =>
  before === undefined ||
  Object.entries(after).some(([field, value]) => !HEARD.has(field) && before[field as keyof PresenceRow] !== value);

/** How long a change can be told, by the record's time: as long as its row certainly is there. */
export const TOLD_FOR_MS = 24 * 3_600_000;

/** Whether a change is still told by a reader that has heard so far. */
export const isStillTold = ({ at }: Pick<ChangeRow, 'at'>, heardUntil: Instant): boolean =>
  heardUntil - at <= TOLD_FOR_MS;
