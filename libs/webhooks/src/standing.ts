import { sql, type RawBuilder } from 'kysely';
import { RECORD_TIME } from './record-time.js';
import type { PauseReason, WebhookDatabase } from './tables.js';

/** How deliveries stand, over all endpoints and instances. */
export type DeliveriesStanding = {
  readonly waiting: number;
  /** Since the oldest of them was taken; 0 where none waits. */
  readonly oldestWaitingSeconds: number;
  /** For how long one has been due that goes to an endpoint which is not paused; 0 where none is. */
  readonly overdueSeconds: number;
  readonly pausedEndpoints: Readonly<Record<PauseReason, number>>;
};

/** The record's time may be ahead of the clock, and stands still while nothing is recorded. */
const NOW = sql<Date>`greatest(clock_timestamp(), ${RECORD_TIME})`;

const seconds = (span: RawBuilder<unknown>) =>
  sql<number>`coalesce(extract(epoch from ${span}), 0)::float8`.as('seconds');

/** Counts what waits, what is due, and what is paused. */
export const deliveriesStanding = async (database: WebhookDatabase): Promise<DeliveriesStanding> => {
  const { waiting, oldest, overdue, ...paused } = await database
    .selectNoFrom(({ selectFrom, fn }) => [
      selectFrom('webhook_delivery').select(fn.countAll<string>().as('n')).where('state', '=', 'waiting').as('waiting'),
      selectFrom('webhook_delivery')
        .select(seconds(sql`${NOW} - min(enqueued_at)`))
        .where('state', '=', 'waiting')
        .as('oldest'),
      selectFrom('webhook_delivery')
        .innerJoin('webhook_endpoint', 'webhook_endpoint.endpoint', 'webhook_delivery.endpoint')
        // A retry is due by the clock of the queue; what came due in a pause has no time, and goes out when that ends.
        .select(
          seconds(
            sql`max(case attempts when 0 then ${NOW} - enqueued_at else clock_timestamp() - next_attempt_at end)`,
          ),
        )
        .where('state', '=', 'waiting')
        .where('paused_at', 'is', null)
        .where('removed_at', 'is', null)
        .as('overdue'),
      ...(['failing', 'gone', 'person'] as const).map((reason) =>
        selectFrom('webhook_endpoint')
          .select(fn.countAll<string>().as('n'))
          .where('pause_reason', '=', reason)
          .where('removed_at', 'is', null)
          .as(reason),
      ),
    ])
    .executeTakeFirstOrThrow();
  return {
    waiting: Number(waiting),
    oldestWaitingSeconds: Math.max(0, oldest ?? 0),
    overdueSeconds: Math.max(0, overdue ?? 0),
    pausedEndpoints: {
      failing: Number(paused.failing),
      gone: Number(paused.gone),
      person: Number(paused.person),
    },
  };
};

/** The newest batch that was looked through for notices. */
export const noticesReached = async (database: WebhookDatabase): Promise<bigint> =>
  BigInt((await database.selectFrom('webhook_cursor').select('number').executeTakeFirstOrThrow()).number);
