import type { Instant } from '@rollcall/decider';
import { sql, type Transaction } from 'kysely';
import { fromKysely, PgBoss, type FetchOptions } from 'pg-boss';
import { RECORD_TIME } from './record-time.js';
import type { WebhookDatabase, WebhookTables } from './tables.js';

/** A notice to one endpoint. */
export type NewDelivery = {
  readonly endpoint: string;
  /** The event's own id (UUID): what the receiver knows it by. */
  readonly eventId: string;
  /** null: it is about no single machine. */
  readonly machine: string | null;
  /** The revision in the machine's stream: first attempts to one endpoint about one machine go out in this order. */
  readonly sequence: number;
  /** Such as `machine.absent`. */
  readonly type: string;
  /** The exact bytes to send, less than 20 KiB. */
  readonly body: string;
  readonly occurredAt: Instant;
};

/** Which deliveries to send again. */
export type Replayed = { readonly eventId: string } | ReplayedTime;

type ReplayedTime = {
  /** Both in terms of when it happened; `to` is not in it. */
  readonly from: Instant;
  readonly to: Instant;
  /** null: of every type. */
  readonly types: readonly string[] | null;
};

type Transacting = Transaction<WebhookTables>;

/** Something to do, which is this worker's until it is done, given back, or half a minute is over. */
export type Job = {
  readonly queue: string;
  readonly id: string;
  /** How often it was taken before: what a slow worker says of a job that another one has taken since is not heard. */
  readonly retryCount: number;
  readonly todo: Turn | Later | Rest;
};

/** The one queue of first attempts, and the one of everything that is tried later. */
export const FIRST_ATTEMPTS = 'webhook-first';
export const LATER_ATTEMPTS = 'webhook-later';
/** What is left of something that concerns more deliveries than one transaction should. */
export const RESTS = 'webhook-rest';

/** Somebody's turn: the oldest notice to this endpoint about this machine that was never tried. */
export type Turn = { readonly endpoint: string; readonly machine: string | null };
/** Another attempt at one notice, after `attempts` that failed; or a look whether an endpoint that failed is back. */
export type Later =
  | { readonly endpoint: string; readonly eventId: string; readonly attempts: number }
  | { readonly endpoint: string; readonly probeAt: string };

/** The rest of a replay, of a resumption or of a removal. */
export type Rest =
  | { readonly endpoint: string; readonly rest: 'replay'; readonly which: ReplayedTime; readonly after: Place }
  | { readonly endpoint: string; readonly rest: 'resume'; readonly after: string }
  | { readonly endpoint: string; readonly rest: 'removal' };
/** A delivery in the order of a replay: when it happened, and its event's id. */
type Place = { readonly occurredAt: Instant; readonly eventId: string };

/** Deliveries that one transaction changes: so many take moments, and the cursor of the notices waits for no more. */
export const SLICE = 500;

// At most four at a time to one endpoint: three that are new, and one that is tried again.
const FIRST_AT_A_TIME = 3;
const LATER_AT_A_TIME = 1;

// None of these was put off, so a start in the future only says that the database's clock was put back since.
const AT_ANY_TIME: FetchOptions = { ignoreStartAfter: true };

// What one worker holds longer than this was lost with it, and another one takes it. Longer than an attempt and its transaction can take.
const LOST_AFTER_S = 30;
const LOOK_FOR_LOST_S = 10;
const DROP_DONE_EVERY_S = 600;
// A job is never given up: the schedule of the deliveries says when something has failed, and a failed job would block its key for ever.
const FOR_EVER = 2_000_000_000;
const STATEMENT_TIMEOUT_MS = 10_000;
const YEAR_S = 365 * 86_400;
const HOUR_S = 3_600;

const OPTIONS = {
  expireInSeconds: LOST_AFTER_S,
  retryLimit: FOR_EVER,
  retryDelay: 0,
  retentionSeconds: YEAR_S,
  deleteAfterSeconds: HOUR_S,
};

/** How to open the queue. */
export type WebhookQueueOptions = {
  readonly connectionString: string;
  readonly applicationName: string;
  /** Whether this process looks after the queue: what a dead worker held, and what is done. Of a worker. */
  readonly looksAfter: boolean;
  /** Something went wrong in the background; it is tried again. */
  readonly onTrouble?: (error: Error) => void;
};

/** The schema of the job queue is not there, or of another version. */
export class JobQueueMissing extends Error {
  override readonly name = 'JobQueueMissing';
}

/** What is to be sent, by which endpoint and machine. Everything that it is told takes place in the caller's transaction. */
export class WebhookQueue {
  private constructor(readonly boss: PgBoss) {}

  /** @throws JobQueueMissing, or Error when the database is away */
  static async open({
    connectionString,
    applicationName,
    looksAfter,
    onTrouble = () => undefined,
  }: WebhookQueueOptions): Promise<WebhookQueue> {
    const boss = new PgBoss({
      connectionString,
      application_name: applicationName,
      max: 2,
      connectionTimeoutMillis: 5_000,
      options: `-c statement_timeout=${STATEMENT_TIMEOUT_MS}`,
      schema: 'pgboss',
      migrate: false,
      supervise: looksAfter,
      superviseIntervalSeconds: LOOK_FOR_LOST_S,
      monitorIntervalSeconds: LOOK_FOR_LOST_S,
      maintenanceIntervalSeconds: DROP_DONE_EVERY_S,
      schedule: false,
      // Not for the application role, which owns no index and sees no other's sessions.
      reindex: false,
      monitorVacuum: false,
      registerInstance: false,
      openTelemetry: { enabled: false },
    });
    boss.on('error', onTrouble);
    try {
      await boss.start();
      await boss.createQueue(FIRST_ATTEMPTS, { policy: 'key_strict_fifo', ...OPTIONS });
      await boss.createQueue(LATER_ATTEMPTS, { policy: 'standard', ...OPTIONS });
      await boss.createQueue(RESTS, { policy: 'standard', ...OPTIONS });
      return new WebhookQueue(boss);
    } catch (error) {
      await boss.stop({ graceful: false });
      throw isMissing(error)
        ? new JobQueueMissing(
            'The database has no job queue, or one of another version. Run rollcall-setup migrate, as the owner of the schema.',
            { cause: error },
          )
        : error;
    }
  }

  /**
   * Takes notices to be sent, each once per endpoint and event, however often it is told them.
   *
   * @returns how many were new
   */
  async enqueueDeliveries(transaction: Transacting, deliveries: readonly NewDelivery[]): Promise<number> {
    if (deliveries.length === 0) return 0;
    const added = await transaction
      .insertInto('webhook_delivery')
      .values(
        deliveries.map(({ endpoint, eventId, machine, sequence, type, body, occurredAt }) => ({
          endpoint,
          event_id: eventId,
          machine,
          sequence: String(sequence),
          type,
          body,
          occurred_at: new Date(occurredAt),
          enqueued_at: RECORD_TIME,
        })),
      )
      .onConflict((conflict) => conflict.columns(['endpoint', 'event_id']).doNothing())
      .returning(['endpoint', 'machine'])
      .execute();
    await this.giveTurns(transaction, added);
    return added.length;
  }

  /**
   * Sends notices again, delivered or not, under the ids they had and as if they were new. None that is waiting for its first attempt. Of many
   * the first of them at once; the rest is left to the workers.
   *
   * @returns how many at once
   */
  async replayDeliveries(
    transaction: Transacting,
    endpoint: string,
    which: Replayed,
    after: Place | null = null,
  ): Promise<number> {
    const chosen = await transaction
      .selectFrom('webhook_delivery')
      .select(['event_id', 'occurred_at'])
      .where('endpoint', '=', endpoint)
      .where(({ or, eb }) => or([eb('state', '<>', 'waiting'), eb('attempts', '>', 0)]))
      .$if('eventId' in which, (query) => query.where('event_id', '=', (which as { eventId: string }).eventId))
      .$if('from' in which, (query) => {
        const { from, to, types } = which as ReplayedTime;
        const within = query.where('occurred_at', '>=', new Date(from)).where('occurred_at', '<', new Date(to));
        return types === null ? within : within.where('type', 'in', types);
      })
      .$if(after !== null, (query) =>
        query.where(sql<boolean>`(occurred_at, event_id) > (${new Date(after!.occurredAt)}, ${after!.eventId}::uuid)`),
      )
      .orderBy('occurred_at')
      .orderBy('event_id')
      .limit(SLICE)
      .forUpdate()
      .execute();
    const last = chosen.at(-1);
    if (last === undefined) return 0;
    const again = await transaction
      .updateTable('webhook_delivery')
      .set({
        state: 'waiting',
        attempts: 0,
        next_attempt_at: null,
        delivered_at: null,
        enqueued_at: RECORD_TIME,
      })
      .where('endpoint', '=', endpoint)
      .where(isOneOf(chosen))
      .returning(['endpoint', 'machine'])
      .execute();
    await this.giveTurns(transaction, again);
    if ('from' in which && chosen.length === SLICE) {
      const place = { occurredAt: last.occurred_at.getTime(), eventId: last.event_id };
      await this.#leave(transaction, { endpoint, rest: 'replay', which, after: place });
    }
    return again.length;
  }

  /** One turn for each notice that was never tried. A turn too many finds nothing, and does nothing. */
  async giveTurns(transaction: Transacting, turns: readonly Turn[]): Promise<void> {
    if (turns.length === 0) return;
    await this.boss.insert(
      FIRST_ATTEMPTS,
      turns.map(({ endpoint, machine }) => ({
        data: { endpoint, machine },
        singletonKey: `${endpoint}/${machine ?? ''}`,
        group: { id: endpoint },
      })),
      { db: fromKysely(transaction) },
    );
  }

  /** @param seconds from now, of the database's clock */
  async tryLater(transaction: Transacting, later: readonly (Later & { readonly seconds: number })[]): Promise<void> {
    if (later.length === 0) return;
    await this.boss.insert(
      LATER_ATTEMPTS,
      later.map(({ seconds, ...data }) => ({
        data,
        startAfter: Math.ceil(seconds),
        group: { id: data.endpoint },
      })),
      { db: fromKysely(transaction) },
    );
  }

  /** Sends to an endpoint again: what waits for its first attempt goes out in order, and what came due meanwhile is tried. */
  async resume(transaction: Transacting, endpoint: string): Promise<void> {
    const resumed = await transaction
      .updateTable('webhook_endpoint')
      .set({ paused_at: null, pause_reason: null, probe_at: null, failures: 0, failing_since: null })
      .where('endpoint', '=', endpoint)
      .where('paused_at', 'is not', null)
      .returning('endpoint')
      .executeTakeFirst();
    if (resumed === undefined) return;
    await this.#resumeAfter(transaction, endpoint, null);
  }

  async #resumeAfter(transaction: Transacting, endpoint: string, after: string | null): Promise<void> {
    const waiting = await transaction
      .selectFrom('webhook_delivery')
      .select(['endpoint', 'event_id', 'machine', 'attempts'])
      .where('endpoint', '=', endpoint)
      .where('state', '=', 'waiting')
      // What is due later has its job still; of what came due meanwhile the time was taken away.
      .where(({ or, eb }) => or([eb('attempts', '=', 0), eb('next_attempt_at', 'is', null)]))
      .$if(after !== null, (query) => query.where('event_id', '>', after!))
      .orderBy('event_id')
      .limit(SLICE)
      .execute();
    await this.giveTurns(
      transaction,
      waiting.filter(({ attempts }) => attempts === 0),
    );
    await this.tryLater(
      transaction,
      waiting
        .filter(({ attempts }) => attempts > 0)
        .map(({ event_id: eventId, attempts }) => ({ endpoint, eventId, attempts, seconds: 0 })),
    );
    const last = waiting.at(-1);
    if (last !== undefined && waiting.length === SLICE)
      await this.#leave(transaction, { endpoint, rest: 'resume', after: last.event_id });
  }

  /** Removes an endpoint: nothing is sent to it any more, and what is sealed for it goes. The rows stay, to be looked at. */
  async remove(transaction: Transacting, endpoint: string): Promise<void> {
    await transaction
      .updateTable('webhook_endpoint')
      .set({ removed_at: sql<Date>`clock_timestamp()` })
      .where('endpoint', '=', endpoint)
      .where('removed_at', 'is', null)
      .execute();
    await transaction.deleteFrom('webhook_silence').where('endpoint', '=', endpoint).execute();
    await transaction.deleteFrom('webhook_sealed').where('endpoint', '=', endpoint).execute();
    await this.#giveUp(transaction, endpoint);
  }

  async #giveUp(transaction: Transacting, endpoint: string): Promise<void> {
    const chosen = await transaction
      .selectFrom('webhook_delivery')
      .select('event_id')
      .where('endpoint', '=', endpoint)
      .where('state', '=', 'waiting')
      .limit(SLICE)
      .forUpdate()
      .execute();
    if (chosen.length === 0) return;
    await transaction
      .updateTable('webhook_delivery')
      .set({ state: 'failed', last_outcome: 'endpoint-removed', next_attempt_at: null })
      .where('endpoint', '=', endpoint)
      .where(isOneOf(chosen))
      .execute();
    if (chosen.length === SLICE) await this.#leave(transaction, { endpoint, rest: 'removal' });
  }

  /** Does the next part of what was left, and leaves the rest of that. Of an endpoint that is paused again, or gone, there is none. */
  async goOn(transaction: Transacting, left: Rest): Promise<void> {
    const { endpoint } = left;
    if (left.rest === 'removal') return this.#giveUp(transaction, endpoint);
    const there = await transaction
      .selectFrom('webhook_endpoint')
      .select('paused_at')
      .where('endpoint', '=', endpoint)
      .where('removed_at', 'is', null)
      .executeTakeFirst();
    if (there === undefined) return;
    if (left.rest === 'replay') await this.replayDeliveries(transaction, endpoint, left.which, left.after);
    else if (there.paused_at === null) await this.#resumeAfter(transaction, endpoint, left.after);
  }

  async #leave(transaction: Transacting, rest: Rest): Promise<void> {
    await this.boss.insert(RESTS, [{ data: rest, group: { id: rest.endpoint } }], { db: fromKysely(transaction) });
  }

  /**
   * Takes what is due, at most so many: of one endpoint and machine one at a time, of one endpoint four, or a few more where several take at the
   * same moment.
   */
  async take(most: number): Promise<readonly Job[]> {
    // A storm of new ones leaves room for those that are tried again.
    const later = await this.#fetch(LATER_ATTEMPTS, Math.ceil(most / 2), LATER_AT_A_TIME);
    const first = await this.#fetch(FIRST_ATTEMPTS, most - later.length, FIRST_AT_A_TIME, AT_ANY_TIME);
    const rests = await this.#fetch(RESTS, Math.min(1, most - later.length - first.length), 1, AT_ANY_TIME);
    return [...later, ...first, ...rests];
  }

  /** It is done, with what else the transaction holds. */
  async complete(transaction: WebhookDatabase, { queue, ...job }: Job): Promise<void> {
    await this.boss.complete(queue, job, undefined, { db: fromKysely(transaction) });
  }

  /** Gives a job back that nothing was done about; whoever is next takes it. */
  async giveBack({ queue, ...job }: Job): Promise<void> {
    await this.boss.fail(queue, job);
  }

  async #fetch(
    queue: string,
    batchSize: number,
    groupConcurrency: number,
    options: FetchOptions = {},
  ): Promise<readonly Job[]> {
    if (batchSize <= 0) return [];
    const jobs = await this.boss.fetch<Job['todo']>(queue, { ...options, batchSize, groupConcurrency });
    return jobs.map(({ id, retryCount, data }) => ({ queue, id, retryCount, todo: data }));
  }

  /** Ends what it does in the background, and its connections. */
  async close(): Promise<void> {
    await this.boss.stop({ graceful: false });
  }
}

/** Of one endpoint: those with these events. */
const isOneOf = (chosen: readonly { readonly event_id: string }[]) =>
  sql<boolean>`event_id = any(${chosen.map(({ event_id: id }) => id)}::uuid[])`;

// pg-boss has no class for either.
const isMissing = (error: unknown): boolean =>
  error instanceof Error && /^pg-boss (is not installed|database requires migrations)/.test(error.message);
