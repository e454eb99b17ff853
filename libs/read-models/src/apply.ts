import type { Instant } from '@rollcall/decider';
import type { Batch, RecordedFact } from '@rollcall/event-store';
import { sql, type Transaction } from 'kysely';
import type { ReadModelDatabase } from './database.js';
import { hearOn } from './gaps.js';
import type { ReadModel } from './model.js';
import { countParked } from './parked.js';
import { trailAfter } from './trail.js';
import type { ReadModelTables } from './tables.js';
import type { Parked } from './understand.js';

/** Where a reader stands in the record. */
export type Place = {
  readonly epoch: string;
  /** The newest batch that was applied; 0n before the first. */
  readonly checkpoint: bigint;
  /** The time of the newest ear until there; null before the first. */
  readonly heardUntil: Instant | null;
  /** The end of the newest gap until there. */
  readonly gapEnd: Instant | null;
  /** Of everything that was applied, see {@link trailAfter}. */
  readonly trail: string;
};

/** What happens to batches, step by step; for tests that end a process between two of them. */
export type ApplyStep = 'applied' | 'committed';

/** The record lacks a batch between two others: always a fault, because batches are numbered in commit order. */
export class HoleInTheRecord extends Error {
  override readonly name = 'HoleInTheRecord';
}

/**
 * Applies whole batches in order: their rows, and the checkpoint, in one transaction.
 *
 * @param place where the read model stands
 * @param batches what follows; batches at or below the checkpoint were seen and are passed over
 * @param gapSeconds see {@link hearOn}
 * @param reached is told about each step; only tests listen
 * @returns the new place; null when the read model is not at `place` any more (another instance was faster, or a rebuild was
 *   asked for), and then nothing was changed
 * @throws HoleInTheRecord when a batch is missing
 */
export const applyBatches = async (
  database: ReadModelDatabase,
  model: ReadModel,
  place: Place,
  batches: readonly Batch[],
  gapSeconds: number,
  reached: (step: ApplyStep) => void = () => undefined,
): Promise<Place | null> => {
  const news = batches.filter(({ number }) => number > place.checkpoint);
  const last = news.at(-1);
  if (last === undefined) return place;
  let expected = place.checkpoint;
  for (const { number } of news) {
    expected += 1n;
    if (number !== expected) throw new HoleInTheRecord(`batch ${expected} is missing before batch ${number}`);
  }
  const { heardUntil, gaps } = hearOn(place.heardUntil, news, gapSeconds);
  const next: Place = {
    epoch: place.epoch,
    checkpoint: last.number,
    heardUntil,
    gapEnd: gaps.at(-1)?.until ?? place.gapEnd,
    trail: trailAfter(place.trail, news),
  };
  const facts = news.flatMap((batch) => batch.facts);

  const inOneTransaction = (apply: (transaction: Transaction<ReadModelTables>) => Promise<readonly Parked[]>) =>
    database.transaction().execute(async (transaction) => {
      // First of all: this takes the row's lock, so a second instance waits here and then finds itself overtaken.
      if (!(await moved(transaction, model.name, place, next))) return null;
      await park(transaction, model.name, await apply(transaction));
      if (gaps.length > 0) {
        await transaction
          .insertInto('read_model_gap')
          .values(
            gaps.map(({ batch, from, until }) => ({
              read_model: model.name,
              batch: batch.toString(),
              from_at: new Date(from),
              to_at: new Date(until),
            })),
          )
          .execute();
      }
      reached('applied');
      return next;
    });

  const applied = await inOneTransaction((transaction) => model.apply(transaction, facts)).catch((error: unknown) => {
    if (!isRefusedValue(error)) throw error;
    // One fact that the database will not store fails all that share its transaction: once more, each on its own.
    return inOneTransaction((transaction) => oneByOne(transaction, model, facts));
  });
  reached('committed');
  return applied;
};

/** Moves the checkpoint, if the read model still stands where we think it does. */
const moved = async (
  transaction: Transaction<ReadModelTables>,
  readModel: string,
  place: Place,
  next: Place,
): Promise<boolean> => {
  const result = await transaction
    .updateTable('read_model')
    .set({
      checkpoint: next.checkpoint.toString(),
      heard_until: dateOf(next.heardUntil),
      gap_end: dateOf(next.gapEnd),
      trail: next.trail,
    })
    .where('name', '=', readModel)
    .where('checkpoint', '=', place.checkpoint.toString())
    .where('epoch', '=', place.epoch)
    .where('rebuild_requested', '=', false)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
};

const dateOf = (instant: Instant | null): Date | null => (instant === null ? null : new Date(instant));

const park = async (
  transaction: Transaction<ReadModelTables>,
  readModel: string,
  parked: readonly Parked[],
): Promise<void> => {
  if (parked.length === 0) return;
  await transaction
    .insertInto('read_model_parked')
    .values(
      countParked(parked).map((row) => ({
        read_model: readModel,
        stream: row.stream,
        reason: row.reason,
        first_revision: row.firstRevision.toString(),
        last_revision: row.lastRevision.toString(),
        facts: row.facts.toString(),
        // Only what is stored here by our own words may not fail in its turn.
        detail: row.detail.replaceAll('\0', ''),
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['read_model', 'stream', 'reason']).doUpdateSet(({ ref }) => ({
        last_revision: ref('excluded.last_revision'),
        facts: sql`read_model_parked.facts + excluded.facts`,
      })),
    )
    .execute();
};

const oneByOne = async (
  transaction: Transaction<ReadModelTables>,
  model: ReadModel,
  facts: readonly RecordedFact[],
): Promise<readonly Parked[]> => {
  const parked: Parked[] = [];
  for (const fact of facts) {
    await sql`savepoint fact`.execute(transaction);
    try {
      parked.push(...(await model.apply(transaction, [fact])));
    } catch (error) {
      if (!isRefusedValue(error)) throw error;
      await sql`rollback to savepoint fact`.execute(transaction);
      const { stream, revision } = fact;
      parked.push({ stream, revision, reason: 'not-storable', detail: `SQLSTATE ${error.code}` });
    }
  }
  return parked;
};

/** Data exceptions, broken constraints and exceeded limits: the same value will be refused again. */
const isRefusedValue = (error: unknown): error is { readonly code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^(22|23|54)/.test(error.code);
