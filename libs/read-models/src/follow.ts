import type { EventStore } from '@rollcall/event-store';
import { SystemClock, type Clock } from '@rollcall/lifetimes';
import { sql } from 'kysely';
import { applyBatches, type Place } from './apply.js';
import { Bell } from './bell.js';
import type { ReadModelDatabase } from './database.js';
import type { ReadModel } from './model.js';

/** The side of the record that a reader needs. */
export type RecordReader = Pick<EventStore, 'readBatches' | 'newest' | 'epoch' | 'onAppended'>;

/** Where a follower tells what it does; a pino logger is one. */
export type FollowLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** What a follower works with. */
export type FollowOptions = {
  readonly database: ReadModelDatabase;
  readonly store: RecordReader;
  readonly model: ReadModel;
  readonly log: FollowLog;
  /** Two neighbouring batches further apart than this many seconds have a gap between them. (Default: 15) */
  readonly gapSeconds?: number;
  /** Batches that are read at once and share a transaction. (Default: 100) */
  readonly batchesAtOnce?: number;
  /** Milliseconds between two looks while nothing happens. (Default: 1,000) */
  readonly lookEvery?: number;
  readonly clock?: Clock;
};

/** What a follower says of itself. */
export type FollowStatus = {
  readonly name: string;
  /** null before the first look, and after a failure until the next. */
  readonly place: Place | null;
  /** What went wrong last, while it lasts. */
  readonly failure: string | null;
  /** How often another instance was faster. */
  readonly overtaken: number;
};

const LONGEST_PAUSE = 5_000;

/**
 * Follows the record for one read model, until it is told to stop. Any number of instances may run: the checkpoint decides whose
 * transaction counts. A feed of batches can be put in front of it by ringing it and handing the batches to `applyBatches`: what
 * was seen is passed over, and a hole is read from the record.
 */
export class Follower {
  readonly #options: Required<FollowOptions>;
  readonly #bell: Bell;
  #place: Place | null = null;
  #lookedAt = 0;
  #failure: string | null = null;
  #overtaken = 0;

  constructor(options: FollowOptions) {
    this.#options = { gapSeconds: 15, batchesAtOnce: 100, lookEvery: 1_000, clock: new SystemClock(), ...options };
    this.#bell = new Bell(this.#options.clock);
  }

  status(): FollowStatus {
    const { name } = this.#options.model;
    return { name, place: this.#place, failure: this.#failure, overtaken: this.#overtaken };
  }

  /** Runs until `signal` aborts; a transaction that has begun is ended first. Never rejects: what fails is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, model, log, lookEvery, clock } = this.#options;
    const hush = store.onAppended(() => this.#bell.ring());
    let pause = 0;
    try {
      while (!signal.aborted) {
        try {
          const idle = await this.#step();
          if (this.#failure !== null) log.info({ readModel: model.name }, 'following the record again');
          this.#failure = null;
          pause = 0;
          if (idle) await this.#bell.wait(lookEvery, signal);
        } catch (error) {
          // The outcome of the transaction may be unknown, so nothing that was known before counts.
          this.#place = null;
          const failure = error instanceof Error ? error.message : String(error);
          if (this.#failure !== failure)
            log.warn({ readModel: model.name, err: error }, 'cannot follow the record; trying again');
          this.#failure = failure;
          pause = Math.min(LONGEST_PAUSE, Math.max(100, pause * 2));
          await clock.sleep(pause, signal);
        }
      }
    } finally {
      hush();
    }
  }

  /** One read and its application. True when there was nothing to apply. */
  async #step(): Promise<boolean> {
    const { store, database, model, gapSeconds, batchesAtOnce, lookEvery, clock } = this.#options;
    if (this.#place === null || clock.monotonic() - this.#lookedAt >= lookEvery) {
      this.#place = await this.#look();
      this.#lookedAt = clock.monotonic();
    }
    const place = this.#place;
    if (place === null) return false;
    const batches = await store.readBatches(place.checkpoint, batchesAtOnce);
    if (batches.length === 0) return true;
    this.#place = await applyBatches(database, model, place, batches, gapSeconds);
    if (this.#place === null) this.#overtaken += 1;
    return false;
  }

  /**
   * Compares where the read model stands with the record, and begins anew where they do not belong together. Null when another
   * instance did so at the same moment.
   */
  async #look(): Promise<Place | null> {
    const { database, store, model, log } = this.#options;
    const { name } = model;
    // A read model that was dropped together with its row begins anew.
    await database
      .insertInto('read_model')
      .values(FRESH(name))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const row = await database.selectFrom('read_model').selectAll().where('name', '=', name).executeTakeFirstOrThrow();
    const checkpoint = BigInt(row.checkpoint);
    // Read after the checkpoint, so that being ahead of it can only mean that the record lost something.
    const [epoch, newest] = [await store.epoch(), await store.newest()];
    const anew = row.rebuild_requested
      ? 'a rebuild was asked for'
      : checkpoint > newest.number
        ? `the read model is at batch ${checkpoint}, ahead of the record at ${newest.number}`
        : row.epoch !== epoch && row.epoch !== null
          ? 'the record is of another epoch: it was restored'
          : null;
    if (anew === null && row.epoch === epoch) {
      return {
        epoch,
        checkpoint,
        heardUntil: row.heard_until?.getTime() ?? null,
        gapEnd: row.gap_end?.getTime() ?? null,
      };
    }
    const begun = await database.transaction().execute(async (transaction) => {
      const result = await transaction
        .updateTable('read_model')
        .set({ ...FRESH(name), epoch, rebuild_until: anew === null ? '0' : newest.number.toString() })
        .where('name', '=', name)
        .where('checkpoint', '=', row.checkpoint)
        .where('rebuild_requested', '=', row.rebuild_requested)
        .where(sql<boolean>`epoch is not distinct from ${row.epoch}`)
        .executeTakeFirst();
      if (result.numUpdatedRows !== 1n) return false;
      await model.clear(transaction);
      await transaction.deleteFrom('read_model_gap').where('read_model', '=', name).execute();
      await transaction.deleteFrom('read_model_parked').where('read_model', '=', name).execute();
      return true;
    });
    if (!begun) return null;
    if (anew !== null) log.warn({ readModel: name, reason: anew, batches: newest.number.toString() }, 'rebuilding');
    return { epoch, checkpoint: 0n, heardUntil: null, gapEnd: null };
  }
}

const FRESH = (name: string) => ({
  name,
  epoch: null,
  checkpoint: '0',
  heard_until: null,
  gap_end: null,
  rebuild_requested: false,
  rebuild_until: '0',
});
