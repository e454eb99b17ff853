import type { RecordHead } from '@rollcall/event-store';
import { SystemClock, withDeadline } from '@rollcall/lifetimes';
import type { LeadershipStatus } from '@rollcall/leadership';
import { READ_MODELS, ReadModelQueries } from '@rollcall/read-models';
import type { Meter } from '@rollcall/telemetry';
import type { ReadModelStatus } from '@rollcall/wire';
import { deliveriesStanding, noticesReached, type PauseReason } from '@rollcall/webhooks';
import type { AbsenceWatching } from './absence-watching.js';
import type { Connections } from './connections.js';
import type { Delivering } from './delivering.js';
import type { Noticing } from './noticing.js';
import { measureMachines } from './measure-machines.js';
import type { Projections } from './projections.js';
import type { Relaying } from './relaying.js';
import type { WebhookConnections } from './webhook-connections.js';

/** What the metrics of a projector are asked from. */
export type Measured = {
  readonly connections: Connections;
  readonly projections: Projections;
  readonly relaying: Relaying;
  readonly webhooks: WebhookConnections;
  readonly noticing: Noticing;
  readonly delivering: Delivering;
  readonly watching: AbsenceWatching;
};

// Under what Prometheus waits for a scrape (10 s).
const ANSWER_WITHIN_MS = 5_000;

/**
 * Measures the read models and the relay, each time that somebody asks. How far they are is asked of the database and not of the loops:
 * so every instance tells it, also where none leads.
 */
export const measureProjector = (meter: Meter, measured: Measured): void => {
  measureRecord(meter, measured);
  measureReadModels(meter, measured);
  measureNotices(meter, measured);
  measureMachines(meter, measured.connections, ANSWER_WITHIN_MS);
  measureDeliveries(meter, measured);
  measureWatch(meter, measured);
  if (measured.relaying.status() !== null) measureRelay(meter, measured);
};

const measureRecord = (meter: Meter, measured: Measured): void => {
  type OfModel = { read_model?: string };
  const gauge = (name: string, description: string) => meter.createObservableGauge<OfModel>(name, { description });
  const reachable = gauge('rollcall_record_reachable', '1 when the database answered this scrape');
  const newest = gauge('rollcall_record_newest_batch', 'Number of the newest batch; idle instances add one every 5 s');
  const checkpoint = gauge('rollcall_read_model_checkpoint_batch', 'Number of the newest batch that is applied');
  const batches = gauge('rollcall_read_model_behind_batches', 'Batches that are recorded and not applied');
  const seconds = gauge(
    'rollcall_read_model_behind_seconds',
    'From when it has heard until to the newest batch; 0 where all is applied',
  );
  const parked = gauge('rollcall_read_model_parked_facts', 'Facts that could not be read');
  const lag = gauge('rollcall_relay_lag_batches', 'Batches that are recorded and not published');
  const end = gauge('rollcall_partitions_end_timestamp_seconds', 'From when on no check-in has a place');
  meter.addBatchObservableCallback<OfModel>(
    async (result) => {
      const seen = await look(measured);
      result.observe(reachable, seen === null ? 0 : 1);
      // What is not observed stays as it was seen last, and would look like a plane on which nothing happens.
      result.observe(newest, seen === null ? NaN : Number(seen.head.number));
      if (measured.connections.feed)
        result.observe(lag, seen === null ? NaN : behind(seen.head.number, seen.published));
      result.observe(end, (measured.connections.store.checkInsEnd() ?? NaN) / 1_000);
      for (const { name } of READ_MODELS) {
        const label = { read_model: name };
        const model = seen?.models.find((each) => each.name === name);
        result.observe(checkpoint, Number(model?.checkpoint ?? NaN), label);
        result.observe(batches, Number(model?.lagBatches ?? NaN), label);
        result.observe(parked, model?.parked ?? NaN, label);
        result.observe(seconds, seen && model ? age(seen.head, model) : NaN, label);
      }
    },
    [reachable, newest, checkpoint, batches, seconds, parked, lag, end],
  );
};

/** Where the record, the read models and the relay are; null when the database does not say so in time. */
const look = async ({ connections: { store, database, cursor, feed } }: Measured) => {
  const queries = new ReadModelQueries(database, store);
  try {
    const [models, head, place] = await withDeadline(new SystemClock(), ANSWER_WITHIN_MS, () =>
      Promise.all([queries.status(), store.newest(), feed && cursor.read()]),
    );
    return { models, head, published: place?.number ?? 0n };
  } catch {
    return null;
  }
};

const behind = (newest: bigint, reached: bigint): number => Number(newest > reached ? newest - reached : 0n);

/** Both are times of the record, so this says nothing of clocks; NaN where nothing was applied yet. */
const age = (head: RecordHead, { heardUntil, lagBatches }: ReadModelStatus): number =>
  heardUntil === null ? NaN : lagBatches === '0' ? 0 : Math.max(0, head.recordedAt - Date.parse(heardUntil)) / 1_000;

const measureReadModels = (meter: Meter, { projections }: Measured): void => {
  type OfModel = { read_model: string; source?: 'feed' | 'record' };
  const leading = meter.createObservableGauge<OfModel>('rollcall_read_model_leading', {
    description: '1 when this instance applies the read model, 0 when it waits or cannot',
  });
  const applied = meter.createObservableCounter<OfModel>('rollcall_read_model_applied_batches_total', {
    description: 'Batches that this instance has applied, by where they came from',
  });
  const overtaken = meter.createObservableCounter<OfModel>('rollcall_read_model_overtaken_total', {
    description: 'How often another instance had applied a batch first',
  });
  meter.addBatchObservableCallback(
    (result) => {
      for (const { name, leadership, applied: counts, overtaken: times } of projections.status()) {
        const label = { read_model: name };
        result.observe(leading, isLeading(leadership), label);
        for (const source of ['feed', 'record'] as const) result.observe(applied, counts[source], { ...label, source });
        result.observe(overtaken, times, label);
      }
    },
    [leading, applied, overtaken],
  );
};

const measureWatch = (meter: Meter, { watching }: Measured): void => {
  const counter = (name: string, description: string) => meter.createObservableCounter(name, { description });
  const recorded = counter('rollcall_absences_recorded_total', 'Absences that this instance has recorded');
  const looks = counter(
    'rollcall_absence_looks_total',
    'How often this instance has looked whether a machine is absent',
  );
  const gauge = (name: string, description: string) => meter.createObservableGauge(name, { description });
  const leading = gauge('rollcall_absence_watch_leading', '1 when this instance watches for absences, 0 when it waits');
  const failing = gauge('rollcall_absence_watch_failing', '1 while it does, and cannot look at all machines or at one');
  meter.addBatchObservableCallback(
    (result) => {
      const status = watching.status();
      result.observe(recorded, status.recorded);
      result.observe(looks, status.looks);
      result.observe(leading, isLeading(status.leadership));
      result.observe(failing, status.failure === null ? 0 : 1);
    },
    [recorded, looks, leading, failing],
  );
};

const measureRelay = (meter: Meter, { relaying }: Measured): void => {
  const gauge = (name: string, description: string) => meter.createObservableGauge(name, { description });
  const counter = (name: string, description: string) => meter.createObservableCounter(name, { description });
  const connected = gauge('rollcall_feed_connected', '1 while this instance is connected to NATS');
  const problem = gauge('rollcall_feed_problem', '1 while NATS is not as it must be, or cannot be used');
  const leading = gauge('rollcall_relay_leading', '1 when this instance relays, 0 when it waits or cannot');
  const published = counter(
    'rollcall_relay_published_messages_total',
    'Messages that NATS has confirmed to this instance',
  );
  const failures = counter('rollcall_relay_failures_total', 'How often this instance could not publish');
  meter.addBatchObservableCallback(
    (result) => {
      const status = relaying.status();
      if (status === null) return;
      const { feed, leadership, relay } = status;
      result.observe(connected, feed.connected ? 1 : 0);
      result.observe(problem, feed.problem !== null || relay.failure !== null ? 1 : 0);
      result.observe(leading, isLeading(leadership));
      result.observe(published, relay.published);
      result.observe(failures, relay.failures);
    },
    [connected, problem, leading, published, failures],
  );
};

/** How far the record is looked through for what webhooks are told; asked of the database, as for the read models. */
const measureNotices = (meter: Meter, { connections: { store }, webhooks, noticing }: Measured): void => {
  const gauge = (name: string, description: string) => meter.createObservableGauge(name, { description });
  const batches = gauge('rollcall_webhook_notices_behind_batches', 'Batches that were not yet looked through');
  const leading = gauge('rollcall_webhook_notices_leading', '1 when this instance looks for notices, 0 when it waits');
  const skipped = meter.createObservableCounter('rollcall_webhook_notices_skipped_total', {
    description: 'Events of which this instance told nobody, because the database refused what was to be told',
  });
  meter.addBatchObservableCallback(
    async (result) => {
      const behindBy = await withDeadline(new SystemClock(), ANSWER_WITHIN_MS, async () => {
        const reached = await noticesReached(webhooks.database);
        return behind((await store.newest()).number, reached);
      }).catch(() => NaN);
      result.observe(batches, behindBy);
      const status = noticing.status();
      result.observe(leading, isLeading(status.leadership));
      result.observe(skipped, status.skipped);
    },
    [batches, leading, skipped],
  );
};

/** Asked of the database, so every instance tells the same of all of them; what was given up, each tells of itself. */
const measureDeliveries = (meter: Meter, { webhooks, delivering }: Measured): void => {
  type OfEndpoint = { reason?: PauseReason };
  const gauge = (name: string, description: string) => meter.createObservableGauge<OfEndpoint>(name, { description });
  const waiting = gauge('rollcall_webhook_waiting_deliveries', 'Notices that are not delivered and not given up');
  const oldest = gauge('rollcall_webhook_oldest_waiting_seconds', 'For how long the oldest of them has waited');
  const overdue = gauge(
    'rollcall_webhook_overdue_seconds',
    'For how long one of them has been due, paused endpoints apart',
  );
  const paused = gauge('rollcall_webhook_paused_endpoints', 'Endpoints to which nothing is sent for now, by why');
  const locked = gauge('rollcall_webhook_without_key', '1 when this instance delivers nothing for want of the key');
  const givenUp = meter.createObservableCounter<OfEndpoint>('rollcall_webhook_given_up_notices_total', {
    description: 'Notices that this instance gave up: after the last attempt, or for their age',
  });
  meter.addBatchObservableCallback<OfEndpoint>(
    async (result) => {
      const standing = await withDeadline(new SystemClock(), ANSWER_WITHIN_MS, () =>
        deliveriesStanding(webhooks.database),
      ).catch(() => null);
      result.observe(waiting, standing?.waiting ?? NaN);
      result.observe(oldest, standing?.oldestWaitingSeconds ?? NaN);
      result.observe(overdue, standing?.overdueSeconds ?? NaN);
      for (const reason of ['failing', 'gone', 'person'] as const)
        result.observe(paused, standing?.pausedEndpoints[reason] ?? NaN, { reason });
      result.observe(givenUp, delivering.status().givenUp);
      result.observe(locked, webhooks.secrets.problem === null ? 0 : 1);
    },
    [waiting, oldest, overdue, paused, givenUp, locked],
  );
};

const isLeading = (leadership: LeadershipStatus): 0 | 1 => (leadership === 'leading' ? 1 : 0);
