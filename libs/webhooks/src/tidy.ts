import { sql } from 'kysely';
import { listenedSince } from './record-time.js';
import type { WebhookDatabase } from './tables.js';

/** Rows that one statement changes: each of them takes moments, however much there is to tidy. */
const AT_ONCE = 1_000;
const DAY_S = 86_400;

/** How many notices were given up, those left out that wait for a person who paused their endpoint. */
export type Tidied = { readonly givenUp: number };

/**
 * Gives up what is older than three days and goes to a paused endpoint, and what has waited longer than the schedule lasts; drops what
 * was settled a month ago, and what is known of silences of a fleet that were over then. Any number of workers may do it. Days are those in
 * which the plane has listened, by the record: what a clock does, or a plane that was off, makes nothing older.
 *
 * @param signal ends it between two statements; the next time goes on
 */
export const tidyDeliveries = async (database: WebhookDatabase, signal?: AbortSignal): Promise<Tidied> => {
  let givenUp = 0;
  const [threeDays, fourDays, aMonth] = (await listenedSince(database, 3 * DAY_S, 4 * DAY_S, 30 * DAY_S)) ?? [];
  if (threeDays === undefined) return { givenUp };
  const inParts = async (part: () => Promise<{ readonly rows: bigint }>): Promise<void> => {
    const { rows } = await part();
    if (rows === BigInt(AT_ONCE) && signal?.aborted !== true) await inParts(part);
  };
  await inParts(async () => {
    const changed = await database
      .updateTable('webhook_delivery')
      .set({ state: 'failed', last_outcome: 'too-old', next_attempt_at: null })
      .where(
        sql<boolean>`(endpoint, event_id) in (
          select endpoint, event_id from webhook_delivery
          where state = 'waiting' and enqueued_at < ${threeDays}
            and (enqueued_at < ${fourDays}
              or endpoint in (select endpoint from webhook_endpoint where paused_at is not null))
          limit ${AT_ONCE} for update skip locked)`,
      )
      .returning(({ selectFrom }) =>
        selectFrom('webhook_endpoint')
          .select('pause_reason')
          .whereRef('webhook_endpoint.endpoint', '=', 'webhook_delivery.endpoint')
          .as('pauseReason'),
      )
      .execute();
    givenUp += changed.filter(({ pauseReason }) => pauseReason !== 'person').length;
    return { rows: BigInt(changed.length) };
  });
  await inParts(async () => {
    const { numDeletedRows: rows } = await database
      .deleteFrom('webhook_delivery')
      .where(
        sql<boolean>`(endpoint, event_id) in (
          select endpoint, event_id from webhook_delivery
          where state <> 'waiting' and enqueued_at < ${aMonth}
          limit ${AT_ONCE} for update skip locked)`,
      )
      .executeTakeFirstOrThrow();
    return { rows };
  });
  const past = sql`select hold from silence_hold where closed_at < ${aMonth}`;
  await inParts(async () => {
    const { numDeletedRows: rows } = await database
      .deleteFrom('silence_held')
      .where(
        sql<boolean>`(hold, machine) in (select hold, machine from silence_held where hold in (${past})
          limit ${AT_ONCE} for update skip locked)`,
      )
      .executeTakeFirstOrThrow();
    return { rows };
  });
  await database
    .deleteFrom('silence_hold')
    .where(sql<boolean>`hold in (${past}) and not exists (select from silence_held h where h.hold = silence_hold.hold)`)
    .execute();
  return { givenUp };
};
