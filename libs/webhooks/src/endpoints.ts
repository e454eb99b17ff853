import { sql } from 'kysely';
import type { WebhookDatabase } from './tables.js';

/** A person wants nothing to be sent: also where it is paused for its failures, so that no probe ends that. What is to be sent waits. */
export const pauseByPerson = async (transaction: WebhookDatabase, endpoint: string): Promise<void> => {
  await transaction
    .updateTable('webhook_endpoint')
    .set({ paused_at: sql<Date>`coalesce(paused_at, clock_timestamp())`, pause_reason: 'person', probe_at: null })
    .where('endpoint', '=', endpoint)
    .execute();
};
