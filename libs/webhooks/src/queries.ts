import type { EventStore } from '@rollcall/event-store';
import { SUBSCRIBABLE } from '@rollcall/webhook-endpoint';
import type { WebhookDeliveryList, WebhookDeliveryView, WebhookList, WebhookView } from '@rollcall/wire';
import { sql, type Selectable } from 'kysely';
import type { DeliveryState, WebhookDatabase, WebhookTables } from './tables.js';

/** Seconds after which an answer counts as old, as that of a read model does. */
const OLD_AFTER_SECONDS = 15;
/** The most deliveries in one answer. */
export const DELIVERY_LIMIT = 500;
/** The form of a page's `next`. */
export const DELIVERY_PLACE = /^(\d{1,15})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Which deliveries of an endpoint. */
export type ListDeliveries = {
  readonly state?: DeliveryState;
  readonly type?: string;
  /** The `next` of the page before. */
  readonly after?: string;
  /** 1 to 500. (Default: 100) */
  readonly limit?: number;
};

/** Who is told, and what became of it. */
export class WebhookQueries {
  constructor(
    private readonly database: WebhookDatabase,
    private readonly store: Pick<EventStore, 'newest'>,
  ) {}

  /** The endpoints of a person that were not removed, the oldest first, as far as the record was looked through. */
  async list(owner: string): Promise<Omit<WebhookList, 'problem'>> {
    const newest = await this.store.newest();
    const cursor = await this.database
      .selectFrom('webhook_cursor')
      .select(['heard_until', sql<Date>`clock_timestamp()`.as('clock')])
      .executeTakeFirst();
    const rows = await this.database
      .selectFrom('webhook_endpoint')
      .selectAll()
      .select(({ selectFrom }) =>
        selectFrom('webhook_delivery')
          .select(({ fn }) => fn.countAll<string>().as('waiting'))
          .whereRef('webhook_delivery.endpoint', '=', 'webhook_endpoint.endpoint')
          .where('state', '=', 'waiting')
          .as('waiting'),
      )
      .where('owner', '=', owner)
      .where('removed_at', 'is', null)
      .orderBy('created_at')
      .orderBy('endpoint')
      .execute();
    const heardUntil = cursor?.heard_until?.getTime() ?? null;
    const now = Math.max(newest.recordedAt, cursor?.clock.getTime() ?? 0);
    return {
      asOf: heardUntil === null ? null : new Date(heardUntil).toISOString(),
      behind: heardUntil === null ? newest.number > 0n : now - heardUntil > OLD_AFTER_SECONDS * 1_000,
      webhooks: rows.map((row) => viewOf(row, Number(row.waiting ?? 0))),
    };
  }

  /** What an endpoint was told or is to be told, the newest first. */
  async deliveries(
    endpoint: string,
    { state, type, after, limit = 100 }: ListDeliveries = {},
  ): Promise<WebhookDeliveryList> {
    const [, at, event] = DELIVERY_PLACE.exec(after ?? '') ?? [];
    const rows = await this.database
      .selectFrom('webhook_delivery')
      .selectAll()
      .where('endpoint', '=', endpoint)
      .$if(state !== undefined, (query) => query.where('state', '=', state!))
      .$if(type !== undefined, (query) => query.where('type', '=', type!))
      .$if(at !== undefined && event !== undefined, (query) =>
        query.where(sql<boolean>`(occurred_at, event_id) < (${new Date(Number(at))}, ${event}::uuid)`),
      )
      .orderBy('occurred_at', 'desc')
      .orderBy('event_id', 'desc')
      .limit(limit + 1)
      .execute();
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      deliveries: page.map(deliveryViewOf),
      next: last === undefined ? null : `${last.occurred_at.getTime()}.${last.event_id}`,
    };
  }

  /** Whether an endpoint was told of an event, or is to be. */
  async hasDelivery(endpoint: string, eventId: string): Promise<boolean> {
    const row = await this.database
      .selectFrom('webhook_delivery')
      .select('event_id')
      .where('endpoint', '=', endpoint)
      .where('event_id', '=', eventId)
      .executeTakeFirst();
    return row !== undefined;
  }
}

const viewOf = (row: Selectable<WebhookTables['webhook_endpoint']>, waiting: number): WebhookView => ({
  id: row.endpoint,
  host: row.host,
  events: SUBSCRIBABLE.filter((type) => row.events.includes(type)),
  promisedOnly: row.promised_only,
  createdAt: row.created_at.toISOString(),
  paused:
    row.paused_at === null || row.pause_reason === null
      ? null
      : { reason: row.pause_reason, since: row.paused_at.toISOString() },
  failures: row.failures,
  failingSince: row.failing_since?.toISOString() ?? null,
  waiting,
});

const deliveryViewOf = (row: Selectable<WebhookTables['webhook_delivery']>): WebhookDeliveryView => ({
  id: row.event_id,
  type: row.type,
  machine: row.machine,
  sequence: Number(row.sequence),
  occurredAt: row.occurred_at.toISOString(),
  state: row.state,
  attempts: row.attempts,
  lastAttemptAt: row.last_attempt_at?.toISOString() ?? null,
  lastStatus: row.last_status,
  lastOutcome: row.last_outcome,
  nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
  deliveredAt: row.delivered_at?.toISOString() ?? null,
});
