import { sql } from 'kysely';
import type { ReadModel } from '../model.js';
import { watchChange } from './project.js';

/**
 * The read model `absence`: which machines are watched, and when each has to be looked at next. What follows from the record is who is in it;
 * the times are the watch's own.
 */
export const absenceModel: ReadModel = {
  name: 'absence',

  async apply(transaction, facts) {
    const newest = new Map(
      facts
        .map(watchChange)
        .filter((change) => change !== null)
        .map(({ machine, lookFrom }) => [machine, lookFrom]),
    );
    const watched = [...newest].filter(([, lookFrom]) => lookFrom !== null);
    const over = [...newest].filter(([, lookFrom]) => lookFrom === null).map(([machine]) => machine);
    if (watched.length > 0) {
      await transaction
        .insertInto('absence_due')
        .columns(['machine', 'due'])
        .expression(
          sql`select * from unnest(${watched.map(([machine]) => machine)}::text[],
            ${watched.map(([, lookFrom]) => new Date(lookFrom!))}::timestamptz[])`,
        )
        .onConflict((conflict) => conflict.column('machine').doNothing())
        .execute();
    }
    if (over.length > 0) {
      await transaction
        .deleteFrom('absence_due')
        .where('machine', '=', sql<string>`any(${over})`)
        .execute();
    }
    return [];
  },

  async clear(transaction) {
    await sql`truncate absence_due`.execute(transaction);
  },
};
