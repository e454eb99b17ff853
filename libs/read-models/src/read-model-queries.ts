import type { EventStore } from '@rollcall/event-store';
import type { ReadModelStatus } from '@rollcall/wire';
import { sql } from 'kysely';
import type { ReadModelDatabase } from './database.js';

/** How far the read models are, and the word that makes one anew. */
export class ReadModelQueries {
  constructor(
    private readonly database: ReadModelDatabase,
    private readonly store: Pick<EventStore, 'newest' | 'epoch'>,
  ) {}

  /** Every read model by name. */
  async status(): Promise<readonly ReadModelStatus[]> {
    // Read before the checkpoints: a lag may be understated by what came meanwhile, but is never negative for long.
    const [newest, epoch] = await Promise.all([this.store.newest(), this.store.epoch()]);
    const rows = await this.database
      .selectFrom('read_model')
      .selectAll()
      .select(({ selectFrom }) =>
        selectFrom('read_model_parked')
          .select(sql<string>`coalesce(sum(facts), 0)`.as('parked'))
          .whereRef('read_model_parked.read_model', '=', 'read_model.name')
          .as('parked'),
      )
      .orderBy('name')
      .execute();
    return rows.map((row) => {
      const checkpoint = BigInt(row.checkpoint);
      const head = newest.number > checkpoint ? newest.number : checkpoint;
      return {
        name: row.name,
        checkpoint: row.checkpoint,
        newest: newest.number.toString(),
        lagBatches: (head - checkpoint).toString(),
        heardUntil: row.heard_until?.toISOString() ?? null,
        epochMatches: row.epoch === epoch,
        parked: Number(row.parked ?? 0),
        rebuilding: row.rebuild_requested || checkpoint < BigInt(row.rebuild_until),
      };
    });
  }

  /**
   * Asks for a read model to be emptied and made again from the record. Whoever follows the record sees it within a second, or
   * when it runs again.
   *
   * @returns false where there is no read model of that name
   */
  async requestRebuild(name: string): Promise<boolean> {
    const row = await this.database
      .updateTable('read_model')
      .set({ rebuild_requested: true })
      .where('name', '=', name)
      .returning('name')
      .executeTakeFirst();
    return row !== undefined;
  }
}
