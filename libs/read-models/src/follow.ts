import { sql } from 'kysely';
import { applyBatches, type ApplyStep, type Place } from './apply.js';
import type { Batch } from '@rollcall/event-store';
import type { ReadModelDatabase } from './database.js';
import {
  RecordFollower,
  type Followed,
  type FollowLog,
  type FollowRecordOptions,
  type RecordReader,
} from './follow-record.js';
import type { ReadModel } from './model.js';
import { NO_TRAIL } from './trail.js';

/** What the follower of a read model works with. */
export type FollowOptions = Omit<FollowRecordOptions<Place>, 'followed'> & {
  readonly database: ReadModelDatabase;
  readonly model: ReadModel;
  /** Two neighbouring ears further apart than this many seconds have a gap between them. (Default: 15) */
  readonly gapSeconds?: number;
};

/** Follows the record for one read model. */
export class Follower extends RecordFollower<Place> {
  constructor({ database, model, gapSeconds = 15, ...options }: FollowOptions) {
    super({ ...options, followed: new FollowedReadModel(database, model, gapSeconds, options.log) });
  }
}

/** A read model with its checkpoint. Where it and the record do not belong together, it begins anew. */
class FollowedReadModel implements Followed<Place> {
  constructor(
    private readonly database: ReadModelDatabase,
    private readonly model: ReadModel,
    private readonly gapSeconds: number,
    private readonly log: FollowLog,
  ) {}

  get name(): string {
    return this.model.name;
  }

  apply(place: Place, batches: readonly Batch[], reached: (step: ApplyStep) => void): Promise<Place | null> {
    return applyBatches(this.database, this.model, place, batches, this.gapSeconds, reached);
  }

  async look(store: RecordReader): Promise<{ readonly place: Place | null; readonly newest: bigint }> {
    const { database, model, log } = this;
    const { name } = model;
    // A read model that was dropped together with its row begins anew.
    await database
      .insertInto('read_model')
      .values(FRESH(name))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const row = await database.selectFrom('read_model').selectAll().where('name', '=', name).executeTakeFirstOrThrow();
    const checkpoint = BigInt(row.checkpoint);
    const [epoch, newest] = [await store.epoch(), await store.newest()];
    const anew = row.rebuild_requested
      ? 'a rebuild was asked for'
      : checkpoint > newest.number
        ? `the read model is at batch ${checkpoint}, ahead of the record at ${newest.number}`
        : row.epoch !== epoch && row.epoch !== null
          ? 'the record is of another epoch: it was restored'
          : null;
    if (anew === null && row.epoch === epoch) {
      const place: Place = {
        epoch,
        checkpoint,
        heardUntil: row.heard_until?.getTime() ?? null,
        gapEnd: row.gap_end?.getTime() ?? null,
        trail: row.trail,
      };
      return { place, newest: newest.number };
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
    if (!begun) return { place: null, newest: newest.number };
    if (anew !== null) log.warn({ readModel: name, reason: anew, batches: newest.number.toString() }, 'rebuilding');
    const place: Place = { epoch, checkpoint: 0n, heardUntil: null, gapEnd: null, trail: NO_TRAIL };
    return { place, newest: newest.number };
  }
}

const FRESH = (name: string) => ({
  name,
  epoch: null,
  checkpoint: '0',
  heard_until: null,
  gap_end: null,
  trail: NO_TRAIL,
  rebuild_requested: false,
  rebuild_until: '0',
});
