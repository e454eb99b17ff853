import { sql } from 'kysely';
import type { WebhookDatabase } from './tables.js';
import { heardSince } from './time-heard.js';

/** The record's time at present, which never goes back; the database's own where nothing is recorded yet. */
export const RECORD_TIME = sql<Date>`coalesce((select recorded_at from batch order by number desc limit 1), clock_timestamp())`;

/** Deaf times that are looked at: of more than that within a month, the oldest count as if the plane had listened. */
const LOOKED_AT = 1_000;

/**
 * Since when the plane has listened for so many seconds, as far as the read model has heard that watches for absences; null where that has
 * heard nothing yet, as at the beginning of a rebuild.
 */
export const listenedSince = async (
  database: WebhookDatabase,
  ...seconds: readonly number[]
): Promise<Date[] | null> => {
  const { rows } = await sql<{ until: Date | null; deaf: readonly { from: string; until: string }[] }>`
    select heard_until as until, coalesce((
      select jsonb_agg(jsonb_build_object('from', from_at, 'until', to_at) order by batch desc) from (
        select batch, from_at, to_at from read_model_gap where read_model = 'absence' order by batch desc limit ${LOOKED_AT}
      ) newest), '[]') as deaf
    from read_model where name = 'absence'`.execute(database);
  const heard = rows[0];
  if (!heard?.until) return null;
  const until = heard.until.getTime();
  const deaf = heard.deaf.map((time) => ({ from: Date.parse(time.from), until: Date.parse(time.until) }));
  return seconds.map((each) => new Date(heardSince(each, until, deaf)));
};
