import type { EventStore } from '@rollcall/event-store';
import type { History } from '@rollcall/wire';
import { sql, type Transaction } from 'kysely';
import type { ReadModelDatabase } from '../database.js';
import type { Gap } from '../gaps.js';
import { asOf, inSnapshot } from '../snapshot.js';
import type { ReadModelTables } from '../tables.js';
import { bodyOf } from '../understand.js';
import type { HistoryLine } from './project.js';
import { plainly, type NameOf } from './sentence.js';
import { decodeLine, historyModel } from './store.js';
import type { BlockerBefore } from './blockers-sentence.js';
import { blockersAfterAll, LOOK_BACK, weave } from './weave.js';

/** Which part of a history, and in which order. */
export type ReadHistory = {
  /** Lines, 1 to 1,000; gaps come on top. (Default: 200) */
  readonly limit?: number;
  /** Which end to begin at, and the order of the answer. (Default: newest-first) */
  readonly order?: 'newest-first' | 'oldest-first';
  /** How actors are called in sentences. (Default: kind and id) */
  readonly nameOf?: NameOf;
};

/** The most lines in one answer. */
export const HISTORY_LIMIT = 1_000;

const RECENT_MS = 60_000;

/** What happened to one machine, in the order of the record. */
export class HistoryQueries {
  constructor(
    private readonly database: ReadModelDatabase,
    private readonly store: Pick<EventStore, 'newest'>,
  ) {}

  /** Absences and returns in the newest minute that was heard, of all machines. */
  recentSilences(): Promise<{ readonly absences: number; readonly returns: number }> {
    return inSnapshot(this.database, 'history_line', historyModel.name, async (transaction, { until }) => {
      const { absences, returns } = await transaction
        .selectFrom('history_line')
        .select([
          sql<string>`count(*) filter (where type = 'WentAbsent')`.as('absences'),
          sql<string>`count(*) filter (where type = 'Returned')`.as('returns'),
        ])
        .where(sql<boolean>`type in ('WentAbsent', 'Returned')`)
        .where('at', '>', new Date((until ?? 0) - RECENT_MS))
        .executeTakeFirstOrThrow();
      return { absences: Number(absences), returns: Number(returns) };
    });
  }

  /** The history of a machine by its id; null where nothing is recorded of it. */
  async of(machine: string, query: ReadHistory = {}): Promise<History | null> {
    const limit = Math.min(Math.max(query.limit ?? 200, 1), HISTORY_LIMIT);
    const newestFirst = query.order !== 'oldest-first';
    const newest = await this.store.newest();
    return inSnapshot(this.database, 'history_line', historyModel.name, async (transaction, heard) => {
      const rows = await transaction
        .selectFrom('history_line')
        .selectAll()
        .where('machine', '=', machine)
        .orderBy('revision', newestFirst ? 'desc' : 'asc')
        .limit(limit + 1)
        .execute();
      if (rows.length === 0) return null;
      const complete = rows.length <= limit;
      const lines = rows.slice(0, limit).map(decodeLine);
      if (newestFirst) lines.reverse();
      const gaps = await gapsAround(transaction, lines, !newestFirst && !complete);
      const entries = weave(lines, gaps, query.nameOf ?? plainly, await blockersBefore(transaction, lines));
      return {
        ...asOf(heard, newest),
        machine: { id: machine, name: await nameOf(transaction, machine) },
        entries: newestFirst ? entries.toReversed() : entries,
      };
    });
  }
}

/** The gaps since the first of these lines, up to the last one where more lines follow or where nothing can. */
const gapsAround = async (
  transaction: Transaction<ReadModelTables>,
  lines: readonly HistoryLine[],
  moreFollow: boolean,
): Promise<readonly Gap[]> => {
  const first = lines[0]!;
  const last = lines.at(-1)!;
  const ends = moreFollow || (last.kind === 'event' && last.type === 'MachineDeleted');
  let select = transaction
    .selectFrom('read_model_gap')
    .select(['batch', 'from_at', 'to_at'])
    .where('read_model', '=', historyModel.name)
    .where('from_at', '>=', new Date(first.at));
  if (ends) select = select.where('from_at', '<', new Date(last.at));
  const rows = await select.orderBy(sql`read_model_gap.batch`).execute();
  return rows.map((row) => ({ batch: BigInt(row.batch), from: row.from_at.getTime(), until: row.to_at.getTime() }));
};

/** The blockers that stood before these lines, as the history itself tells it; nothing is looked for where no line needs it. */
const blockersBefore = async (
  transaction: Transaction<ReadModelTables>,
  lines: readonly HistoryLine[],
): Promise<readonly BlockerBefore[]> => {
  const { machine, revision } = lines[0]!;
  if (!lines.some((line) => line.kind === 'event' && line.type === 'BlockersChanged')) return [];
  const rows = await transaction
    .selectFrom('history_line')
    .selectAll()
    .where('machine', '=', machine)
    .where('type', '=', 'BlockersChanged')
    .where('revision', '<', revision.toString())
    .orderBy('revision', 'desc')
    .limit(LOOK_BACK)
    .execute();
  return blockersAfterAll(rows.map(decodeLine).toReversed());
};

/** The name as the history itself tells it, so that the answer needs no other read model. */
const nameOf = async (transaction: Transaction<ReadModelTables>, machine: string): Promise<string | null> => {
  const row = await transaction
    .selectFrom('history_line')
    .select('body')
    .where('machine', '=', machine)
    .where('type', 'in', ['MachineAdmitted', 'NameAdopted', 'MachineRenamed'])
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst();
  const name = row?.body == null ? null : bodyOf(row.body)?.['name'];
  return typeof name === 'string' ? name : null;
};
