import { sql } from 'kysely';
import { RECORD_TIME } from './record-time.js';
import type { WebhookDatabase } from './tables.js';

/** How deliveries stand, over all endpoints and instances. */
export type DeliveriesStanding = {
  readonly waiting: number;
  /** Since the oldest of them was taken; 0 where none waits. */
  readonly oldestWaitingSeconds: number;
  readonly pausedEndpoints: number;
};

/** Counts what waits and what is paused. */
export const deliveriesStanding = async (database: WebhookDatabase): Promise<DeliveriesStanding> => {
  const { waiting, oldest, paused } = await database
    .selectNoFrom(({ selectFrom, fn }) => [
      selectFrom('webhook_delivery').select(fn.countAll<string>().as('n')).where('state', '=', 'waiting').as('waiting'),
      selectFrom('webhook_delivery')
        .select(
          // The record's time may be ahead of the clock, and stands still while nothing is recorded.
          sql<number>`coalesce(extract(epoch from greatest(clock_timestamp(), ${RECORD_TIME}) - min(enqueued_at)), 0)::float8`.as(
            's',
          ),
        )
        .where('state', '=', 'waiting')
        .as('oldest'),
      selectFrom('webhook_endpoint')
        .select(fn.countAll<string>().as('n'))
        .where('paused_at', 'is not', null)
        .where('removed_at', 'is', null)
        .as('paused'),
    ])
    .executeTakeFirstOrThrow();
  return {
    waiting: Number(waiting),
    oldestWaitingSeconds: Math.max(0, oldest ?? 0),
    pausedEndpoints: Number(paused),
  };
};

/** The newest batch that was looked through for notices. */
export const noticesReached = async (database: WebhookDatabase): Promise<bigint> =>
  BigInt((await database.selectFrom('webhook_cursor').select('number').executeTakeFirstOrThrow()).number);
