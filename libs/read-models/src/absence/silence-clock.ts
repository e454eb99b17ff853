import { sql } from 'kysely';
import type { ReadModelDatabase } from '../database.js';

/** Tells whoever listens for the plane when a silence may have become an absence, so that the record's time is carried on in time. */
export class SilenceClock {
  constructor(private readonly database: ReadModelDatabase) {}

  /**
   * Whether a machine has become due to be looked at, by the database's clock, which is the one that gives batches their time, and since the
   * newest ear: what was due before has been heard of already, whether or not anybody has looked.
   */
  async isDue(): Promise<boolean> {
    const row = await this.database
      .selectFrom('absence_due')
      .select('machine')
      .where('due', '<=', sql<Date>`clock_timestamp()`)
      .where(
        'due',
        '>=',
        sql<Date>`coalesce((select heard_until(number) from batch order by number desc limit 1), '-infinity')`,
      )
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }
}
