import { sql } from 'kysely';
import type { WebhookDatabase } from './tables.js';

/**
 * Gives up what is older than three days and goes to a paused endpoint, and what has waited longer than the schedule lasts; drops what
 * was settled a month ago. Any number of workers may do it.
 */
export const tidyDeliveries = async (database: WebhookDatabase): Promise<void> => {
  await database
    .updateTable('webhook_delivery')
    .set({ state: 'failed', last_outcome: 'too-old', next_attempt_at: null })
    .where('state', '=', 'waiting')
    .where(({ or, and, eb, selectFrom }) =>
      or([
        eb('enqueued_at', '<', sql<Date>`clock_timestamp() - interval '4 days'`),
        and([
          eb('enqueued_at', '<', sql<Date>`clock_timestamp() - interval '3 days'`),
          eb('endpoint', 'in', selectFrom('webhook_endpoint').select('endpoint').where('paused_at', 'is not', null)),
        ]),
      ]),
    )
    .execute();
  await database
    .deleteFrom('webhook_delivery')
    .where('state', '<>', 'waiting')
    .where('enqueued_at', '<', sql<Date>`clock_timestamp() - interval '30 days'`)
    .execute();
};
