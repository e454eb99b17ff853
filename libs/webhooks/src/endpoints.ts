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

/** Removes an endpoint: nothing is sent to it any more, and what is sealed for it goes. The rows stay, to be looked at. */
export const removeEndpoint = async (transaction: WebhookDatabase, endpoint: string): Promise<void> => {
  await transaction
    .updateTable('webhook_endpoint')
    .set({ removed_at: sql<Date>`clock_timestamp()` })
    .where('endpoint', '=', endpoint)
    .where('removed_at', 'is', null)
    .execute();
  await transaction
    .updateTable('webhook_delivery')
    .set({ state: 'failed', last_outcome: 'endpoint-removed', next_attempt_at: null })
    .where('endpoint', '=', endpoint)
    .where('state', '=', 'waiting')
    .execute();
  await transaction.deleteFrom('webhook_silence').where('endpoint', '=', endpoint).execute();
  await transaction.deleteFrom('webhook_sealed').where('endpoint', '=', endpoint).execute();
};
