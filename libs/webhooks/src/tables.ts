import type { Generated, Kysely } from 'kysely';

/** The tables of the webhooks (`infra/migrations`), as the driver gives them. `bigint` arrives as a string. */
export interface WebhookTables {
  webhook_endpoint: {
    endpoint: string;
    owner: string;
    host: string;
    events: readonly string[];
    promised_only: Generated<boolean>;
    first_batch: string;
    created_at: Date;
    removed_at: Generated<Date | null>;
    paused_at: Generated<Date | null>;
    pause_reason: Generated<PauseReason | null>;
    probe_at: Generated<Date | null>;
    failures: Generated<number>;
    failing_since: Generated<Date | null>;
  };
  webhook_sealed: {
    endpoint: string;
    what: 'url' | 'secret';
    made_at: Generated<Date>;
    sealed: Buffer;
    valid_until: Generated<Date | null>;
  };
  webhook_delivery: {
    endpoint: string;
    event_id: string;
    machine: string | null;
    sequence: string;
    type: string;
    body: string;
    occurred_at: Date;
    enqueued_at: Generated<Date>;
    state: Generated<DeliveryState>;
    attempts: Generated<number>;
    last_attempt_at: Generated<Date | null>;
    last_status: Generated<number | null>;
    last_outcome: Generated<string | null>;
    next_attempt_at: Generated<Date | null>;
    delivered_at: Generated<Date | null>;
  };
  silence_hold: {
    hold: string;
    owner: string;
    opened_at: Date;
    ends_at: Date;
    closed_at: Generated<Date | null>;
    body: string;
    digest: string;
  };
  silence_held: {
    hold: string;
    machine: string;
    name: string | null;
    last_check_at: Date;
    due_at: Date;
    endpoints: readonly string[];
  };
  webhook_silence: {
    endpoint: string;
    machine: string;
    event_id: string;
    sequence: string;
    type: string;
    body: string;
    occurred_at: Date;
    told: boolean;
    look_at: Date | null;
  };
  webhook_cursor: {
    one: Generated<boolean>;
    epoch: string;
    number: string;
    heard_until: Date | null;
  };
}

/** What became of a notice to one endpoint. `failed`: it was tried for three days. */
export type DeliveryState = 'waiting' | 'delivered' | 'failed';

/** Why nothing is sent to an endpoint: its last attempts failed, it answered 410, or a person wants it so. */
export type PauseReason = 'failing' | 'gone' | 'person';

/** The webhooks' side of the database. `destroy()` ends its connections. */
export type WebhookDatabase = Kysely<WebhookTables>;
