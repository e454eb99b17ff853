import type { Instant } from '@rollcall/decider';
import { SUBSCRIBABLE } from '@rollcall/webhook-endpoint';
import type { Transaction } from 'kysely';
import type { WebhookTables } from '../tables.js';
import type { Endpoint } from './subscriptions.js';

type Transacting = Transaction<WebhookTables>;

/** The endpoints that are there, by id. */
export const endpointsIn = async (transaction: Transacting): Promise<Map<string, Endpoint>> => {
  const rows = await transaction
    .selectFrom('webhook_endpoint')
    .select(['endpoint', 'owner', 'events', 'promised_only', 'first_batch'])
    .where('removed_at', 'is', null)
    .execute();
  return new Map(
    rows.map((row) => [
      row.endpoint,
      {
        endpoint: row.endpoint,
        owner: row.owner,
        events: SUBSCRIBABLE.filter((type) => row.events.includes(type)),
        promisedOnly: row.promised_only,
        firstBatch: BigInt(row.first_batch),
      },
    ]),
  );
};

/** Makes the row of an endpoint. One that is there already stays as it is. */
export const addEndpoint = async (
  transaction: Transacting,
  { endpoint, owner, host, events, promisedOnly, firstBatch }: Endpoint & { readonly host: string },
  recordedAt: Instant,
): Promise<void> => {
  await transaction
    .insertInto('webhook_endpoint')
    .values({
      endpoint,
      owner,
      host,
      events,
      promised_only: promisedOnly,
      first_batch: firstBatch.toString(),
      created_at: new Date(recordedAt),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
};
