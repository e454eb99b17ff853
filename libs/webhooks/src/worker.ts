import { Bell, SystemClock, type Clock } from '@rollcall/lifetimes';
import { sql, type Selectable, type Transaction } from 'kysely';
import { afterAttempt, type AfterAttempt } from './after-attempt.js';
import type { Attempt, Outcome } from './outcome.js';
import type { Job, Later, Turn, WebhookQueue } from './queue.js';
import { NotUnsealed } from './seal.js';
import type { WebhookSecrets } from './secrets.js';
import { LIMITS, sendOnce, type AttemptLimits } from './send.js';
import { signatureHeaders } from './signature.js';
import type { DeliveryState, WebhookDatabase, WebhookTables } from './tables.js';
import { checkTargetWithin, type TargetRules } from './target.js';
import { tidyDeliveries } from './tidy.js';

/** Where a worker is with a job. Only tests listen, to end the process between two of them. */
export type DeliveryStep = 'taken' | 'sent' | 'settled';

/** Where a worker says what troubles it. */
export type WorkerLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** What a worker works with, and does not close. */
export type WebhookWorkerOptions = TargetRules & {
  readonly database: WebhookDatabase;
  readonly queue: WebhookQueue;
  readonly secrets: WebhookSecrets;
  /** An authority that is believed beside those of the system, PEM. */
  readonly ca: string | null;
  readonly log: WorkerLog;
  /** Is told each attempt. */
  readonly attempted?: (outcome: Outcome, seconds: number) => void;
  readonly reached?: (step: DeliveryStep) => void;
  readonly limits?: AttemptLimits;
  readonly clock?: Clock;
};

/** How a worker is getting on. */
export type WorkerStatus = {
  readonly inFlight: number;
  /** Why it sends nothing; null when all is well. */
  readonly problem: string | null;
  /** Notices that this worker gave up, because the last attempt failed or for their age. */
  readonly givenUp: number;
};

const MOST_IN_FLIGHT = 64;
const LOOK_EVERY_MS = 500;
const AFTER_TROUBLE_MS = 2_000;
const TIDY_EVERY_MS = 60_000;

/** Carries out the deliveries that wait. Any number of workers share one queue. */
export class WebhookWorker {
  readonly #options: WebhookWorkerOptions;
  readonly #clock: Clock;
  readonly #bell: Bell;
  readonly #inFlight = new Set<Promise<void>>();
  #trouble: string | null = null;
  #givenUp = 0;

  constructor(options: WebhookWorkerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? new SystemClock();
    this.#bell = new Bell(this.#clock);
  }

  status(): WorkerStatus {
    const problem = this.#options.secrets.problem ?? this.#trouble;
    return { inFlight: this.#inFlight.size, problem, givenUp: this.#givenUp };
  }

  /** Works until the signal is aborted; resolves when nothing is under way any more. */
  async run(signal: AbortSignal): Promise<void> {
    const { secrets, log } = this.#options;
    if (secrets.problem !== null) {
      log.warn({}, secrets.problem);
      return;
    }
    const over = new AbortController();
    let tidied = -Infinity;
    while (!signal.aborted) {
      const isIdle = await this.#guarded(async () => {
        if (this.#clock.monotonic() - tidied >= TIDY_EVERY_MS) {
          tidied = this.#clock.monotonic();
          this.#givenUp += (await tidyDeliveries(this.#options.database, signal)).givenUp;
        }
        return (await this.#takeSome(over.signal)) === 0;
      });
      if (isIdle) await this.#bell.wait(isIdle === 'troubled' ? AFTER_TROUBLE_MS : LOOK_EVERY_MS, signal);
    }
    // What is under way may end in peace; then it is broken off and goes out again, under the same id.
    const peace = new AbortController();
    const ended = Promise.all(this.#inFlight).then(() => peace.abort());
    await this.#clock.sleep((this.#options.limits ?? LIMITS).ending, peace.signal);
    over.abort(new Error('The worker ends'));
    await ended;
  }

  async #takeSome(signal: AbortSignal): Promise<number> {
    const room = MOST_IN_FLIGHT - this.#inFlight.size;
    const jobs = await this.#options.queue.take(room);
    for (const job of jobs) {
      const work = this.#work(job, signal).finally(() => {
        this.#inFlight.delete(work);
        // Its turn is over, so the next one of its key may be due; and there is room.
        this.#bell.ring();
      });
      this.#inFlight.add(work);
    }
    return jobs.length;
  }

  /** A job that fails for a reason of ours stays taken for half a minute, which is a pause, and is then tried again by anybody. */
  async #work(job: Job, signal: AbortSignal): Promise<void> {
    await this.#guarded(async () => {
      this.#options.reached?.('taken');
      try {
        await this.#carryOut(job, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        await this.#options.queue.giveBack(job);
      }
      return false;
    });
  }

  async #guarded(work: () => Promise<boolean>): Promise<boolean | 'troubled'> {
    try {
      const result = await work();
      this.#trouble = null;
      return result;
    } catch (error) {
      // Told once for each trouble, and not for each job that it meets.
      const words = error instanceof Error ? error.message : String(error);
      if (this.#trouble !== words) this.#options.log.warn({ err: error }, 'cannot deliver webhooks; trying again');
      this.#trouble = words;
      return 'troubled';
    }
  }

  async #carryOut(job: Job, signal: AbortSignal): Promise<void> {
    const { database, queue, reached } = this.#options;
    const { todo } = job;
    if ('rest' in todo)
      return database.transaction().execute(async (transaction) => {
        await queue.goOn(transaction, todo);
        await queue.complete(transaction, job);
      });
    const found = await this.#find(todo);
    if (found === null) return queue.complete(database, job);
    if (found === 'nothing-waits')
      return database.transaction().execute(async (transaction) => {
        await queue.resume(transaction, todo.endpoint);
        await queue.complete(transaction, job);
      });
    if (found === 'paused') {
      const isPut = await database
        .transaction()
        .execute((transaction) => this.#putAside(transaction, { ...job, todo }));
      return isPut ? undefined : this.#carryOut(job, signal);
    }
    const begun = this.#clock.monotonic();
    const attempt = await this.#attempt(found, signal);
    const seconds = (this.#clock.monotonic() - begun) / 1_000;
    reached?.('sent');
    this.#options.attempted?.(attempt.outcome, seconds);
    const state = await database.transaction().execute(async (transaction) => {
      const settled = await this.#settle(transaction, todo, found, attempt);
      await queue.complete(transaction, job);
      return settled;
    });
    if (state === 'failed') this.#givenUp += 1;
    reached?.('settled');
  }

  /** What a job is about, if it still is about something. */
  async #find(todo: Turn | Later): Promise<Found | 'nothing-waits' | 'paused' | null> {
    const endpoint = await this.#options.database
      .selectFrom('webhook_endpoint')
      .select(['paused_at', 'pause_reason', 'probe_at'])
      .where('endpoint', '=', todo.endpoint)
      .where('removed_at', 'is', null)
      .executeTakeFirst();
    if (endpoint === undefined) return null;
    if ('probeAt' in todo) {
      // Of an earlier pause, which is over.
      if (endpoint.pause_reason !== 'failing' || endpoint.probe_at?.toISOString() !== todo.probeAt) return null;
      return (await this.#oldest(todo)) ?? 'nothing-waits';
    }
    if (endpoint.paused_at !== null) return 'paused';
    return (await this.#oldest(todo)) ?? null;
  }

  /** Leaves to the end of a pause what came due in it; false when that was just now. */
  async #putAside(
    transaction: Transaction<WebhookTables>,
    job: Job & { readonly todo: Turn | Later },
  ): Promise<boolean> {
    const { todo } = job;
    const endpoint = await transaction
      .selectFrom('webhook_endpoint')
      .select('paused_at')
      .where('endpoint', '=', todo.endpoint)
      .forUpdate()
      .executeTakeFirst();
    if (endpoint?.paused_at === null) return false;
    if ('eventId' in todo)
      await transaction
        .updateTable('webhook_delivery')
        .set({ next_attempt_at: null })
        .where('endpoint', '=', todo.endpoint)
        .where('event_id', '=', todo.eventId)
        .where('state', '=', 'waiting')
        .where('attempts', '=', todo.attempts)
        .execute();
    await this.#options.queue.complete(transaction, job);
    return true;
  }

  #oldest(todo: Turn | Later): Promise<Found | undefined> {
    const waiting = this.#options.database
      .selectFrom('webhook_delivery')
      .select(['endpoint', 'event_id', 'body', 'attempts'])
      .where('endpoint', '=', todo.endpoint)
      .where('state', '=', 'waiting');
    if ('eventId' in todo)
      return waiting.where('event_id', '=', todo.eventId).where('attempts', '=', todo.attempts).executeTakeFirst();
    if ('probeAt' in todo) return waiting.orderBy('occurred_at').orderBy('sequence').limit(1).executeTakeFirst();
    return waiting
      .where('machine', todo.machine === null ? 'is' : '=', todo.machine)
      .where('attempts', '=', 0)
      .orderBy('sequence')
      .orderBy('occurred_at')
      .limit(1)
      .executeTakeFirst();
  }

  async #attempt({ endpoint, event_id: id, body }: Found, signal: AbortSignal): Promise<Attempt> {
    const { database, secrets, resolver, allowed, ca, limits = LIMITS } = this.#options;
    const without = (outcome: Outcome): Attempt => ({ outcome, status: null, retryAfter: null });
    const opened = await secrets.open(database, endpoint).catch((error: unknown) => {
      if (error instanceof NotUnsealed) return null;
      throw error;
    });
    if (opened === null) return without('not-unsealed');
    const target = await checkTargetWithin(limits.connect, opened.url, { resolver, allowed }, this.#clock);
    if ('problem' in target) return without(target.problem);
    const signed = { id, timestamp: Math.floor(this.#clock.wall() / 1_000), body };
    const headers = {
      ...signatureHeaders(signed, opened.secrets),
      'content-type': 'application/json',
      'user-agent': 'rollcall-webhooks',
    };
    return sendOnce(target, { headers, body }, { allowed, ca, limits, signal });
  }

  /**
   * Writes down what came of an attempt, unless something else became of the notice meanwhile: the job was taken from us, or it was given up
   * or is sent again. Then it is not ours to say.
   *
   * @returns what became of the notice; null where that is not ours to say
   */
  async #settle(
    transaction: Transaction<WebhookTables>,
    todo: Turn | Later,
    found: Found,
    attempt: Attempt,
  ): Promise<DeliveryState | null> {
    const { queue } = this.#options;
    const { endpoint, event_id: eventId, attempts } = found;
    const standing = await transaction
      .selectFrom('webhook_endpoint')
      .select(['failures', 'pause_reason', 'probe_at', PAUSED_FOR])
      .where('endpoint', '=', endpoint)
      .where('removed_at', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (standing === undefined) return null;
    const after = afterAttempt(
      attempt,
      {
        attempts,
        isProbe: 'probeAt' in todo,
        endpoint: {
          failures: standing.failures,
          pauseReason: standing.pause_reason,
          pausedForSeconds: standing.paused_for,
        },
      },
      Math.random(),
    );
    const isOurs = await writeDelivery(transaction, found, attempt, after.delivery);
    // A probe tells of its endpoint whatever became of the notice that it took along: without it nothing would end the pause.
    const isStandingProbe = 'probeAt' in todo && standing.probe_at?.toISOString() === todo.probeAt;
    if (!isOurs && !isStandingProbe) return null;
    const { state, retryIn, attempts: made } = after.delivery;
    if (isOurs && state === 'waiting' && retryIn !== null)
      await queue.tryLater(transaction, [{ endpoint, eventId, attempts: made, seconds: retryIn }]);
    if (after.endpoint.resume) await queue.resume(transaction, endpoint);
    else if (after.endpoint.failures !== standing.failures || after.endpoint.pause !== null) {
      const { probe_at: probeAt } = await writeEndpoint(transaction, endpoint, after.endpoint);
      if (after.endpoint.probeIn !== null && probeAt !== null)
        await queue.tryLater(transaction, [
          { endpoint, probeAt: probeAt.toISOString(), seconds: after.endpoint.probeIn },
        ]);
    }
    return isOurs ? state : null;
  }
}

/** A delivery as it was found waiting. */
type Found = Pick<Selectable<WebhookTables['webhook_delivery']>, 'endpoint' | 'event_id' | 'body' | 'attempts'>;

const PAUSED_FOR = sql<number>`coalesce(extract(epoch from clock_timestamp() - paused_at), 0)::float8`.as('paused_for');

/** @param seconds from now, by the database's clock, in whole milliseconds so that it is the same when it is read again */
const inSeconds = (seconds: number) =>
  sql<Date>`date_trunc('milliseconds', clock_timestamp() + make_interval(secs => ${seconds}))`;

/** @returns whether it still was as it was found */
const writeDelivery = async (
  transaction: Transaction<WebhookTables>,
  { endpoint, event_id: eventId, attempts }: Found,
  { status, outcome }: Attempt,
  after: AfterAttempt['delivery'],
): Promise<boolean> => {
  const { numUpdatedRows } = await transaction
    .updateTable('webhook_delivery')
    .set({
      state: after.state,
      attempts: after.attempts,
      last_attempt_at: sql<Date>`clock_timestamp()`,
      last_status: status,
      last_outcome: outcome,
      // A probe leaves it as it was: it is due when the endpoint is back.
      ...(after.state !== 'waiting' && { next_attempt_at: null }),
      ...(after.retryIn !== null && { next_attempt_at: inSeconds(after.retryIn) }),
      delivered_at: after.state === 'delivered' ? sql<Date>`clock_timestamp()` : null,
    })
    .where('endpoint', '=', endpoint)
    .where('event_id', '=', eventId)
    .where('state', '=', 'waiting')
    .where('attempts', '=', attempts)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
};

const writeEndpoint = (
  transaction: Transaction<WebhookTables>,
  endpoint: string,
  { failures, pause, probeIn }: AfterAttempt['endpoint'],
): Promise<{ readonly probe_at: Date | null }> =>
  transaction
    .updateTable('webhook_endpoint')
    .set({
      failures,
      failing_since: failures === 0 ? null : sql<Date>`coalesce(failing_since, clock_timestamp())`,
      ...(pause !== null && {
        paused_at: sql<Date>`coalesce(paused_at, clock_timestamp())`,
        pause_reason: pause,
        probe_at: null,
      }),
      ...(probeIn !== null && { probe_at: inSeconds(probeIn) }),
    })
    .where('endpoint', '=', endpoint)
    .returning('probe_at')
    .executeTakeFirstOrThrow();
