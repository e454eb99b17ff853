import type { Instant } from '@rollcall/decider';
import type { RecordHead } from '@rollcall/event-store';
import type { AsOf } from '@rollcall/wire';
import { sql, type Transaction } from 'kysely';
import type { ReadModelDatabase } from './database.js';
import type { ReadModelTables } from './tables.js';

/** Seconds after which an answer counts as old. */
export const OLD_AFTER_SECONDS = 15;

/** How far a read model had come when it was asked. */
export type Heard = {
  /** The time of the newest ear until the newest batch applied: the "now" of the answer. */
  readonly until: Instant | null;
  /** The end of the newest gap. */
  readonly gapEnd: Instant | null;
  /** The newest batch applied; 0n before the first. */
  readonly checkpoint: bigint;
  /** Of the record that is followed; null before the first look at it. */
  readonly epoch: string | null;
  /** It is being made anew, or soon will be: what it shows is of an earlier time than what it has shown. */
  readonly rebuilding: boolean;
  /** The database's clock, which is the one that gives batches their time. */
  readonly clock: Instant;
};

/**
 * Reads a read model as it stood at one moment: rows and "as of" cannot belong to different batches.
 *
 * @param table the table that is read
 */
export const inSnapshot = <Result>(
  database: ReadModelDatabase,
  table: 'presence_machine' | 'presence_change' | 'history_line' | 'readiness_episode',
  readModel: string,
  read: (transaction: Transaction<ReadModelTables>, heard: Heard) => Promise<Result>,
): Promise<Result> =>
  database
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (transaction) => {
      // A rebuild truncates, which no snapshot hides. With the lock taken before the snapshot it comes before us or after us.
      await sql`lock table ${sql.table(table)} in access share mode`.execute(transaction);
      const row = await transaction
        .selectFrom('read_model')
        .selectAll()
        .select(sql<Date>`clock_timestamp()`.as('clock'))
        .where('name', '=', readModel)
        .executeTakeFirst();
      return read(transaction, {
        until: row?.heard_until?.getTime() ?? null,
        gapEnd: row?.gap_end?.getTime() ?? null,
        checkpoint: BigInt(row?.checkpoint ?? 0),
        epoch: row?.epoch ?? null,
        rebuilding: row !== undefined && (row.rebuild_requested || BigInt(row.checkpoint) < BigInt(row.rebuild_until)),
        clock: row?.clock.getTime() ?? 0,
      });
    });

/**
 * What an answer says about its own age. It is behind when the record has moved on without the read model (the projector stands
 * still), and also when nobody listens: a plane that does makes a mark every five seconds, so a record without ears says nothing of machines,
 * whatever people record meanwhile. What they have recorded is shown before it is heard past.
 */
export const asOf = (heard: Heard, newest: RecordHead): AsOf => {
  if (heard.until === null) return { asOf: null, behind: newest.number > 0n };
  const age = Math.max(newest.recordedAt, heard.clock) - heard.until;
  return { asOf: new Date(heard.until).toISOString(), behind: age > OLD_AFTER_SECONDS * 1_000 };
};
