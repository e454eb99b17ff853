import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { LedgerEvent } from '@rollcall/event-store';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { machine, machineStream } from '@rollcall/machine';
import { admit, labelled, returned, wentAbsent } from '@rollcall/machine/testing';
import { labelSelector, promiseBook, promisesStream, nodeSelector } from '@rollcall/promise-book';
import { webhookEndpoint, webhookStream, type Subscribable } from '@rollcall/webhook-endpoint';
import { EndpointNotices, openWebhooks, WebhookQueue, type WebhookDatabase } from '@rollcall/webhooks';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';

const SILENCES: readonly Subscribable[] = ['machine.absent', 'machine.stopped', 'machine.returned'];
const WORKING_HOURS = 'daily 09:00-18:00 UTC';
const actor = { kind: 'person', id: 'test' } as const;

let fresh: FreshDatabase;
let store: PostgresEventStore;
let database: WebhookDatabase;
let queue: WebhookQueue;
let notices: EndpointNotices;

beforeAll(async () => {
  fresh = await freshDatabase();
  const connection = { connectionString: fresh.url, applicationName: 'test' };
  store = await PostgresEventStore.connect(connection);
  database = openWebhooks(connection);
  queue = await WebhookQueue.open({ ...connection, looksAfter: false });
  notices = new EndpointNotices({ database, queue, log: { warn: () => undefined } });
});
afterAll(async () => {
  await Promise.all([queue.close(), database.destroy(), store.close()]);
  await fresh.drop();
});

const at = (time: string): number => Date.parse(`2126-01-14T${time}Z`);

/** A person with a machine, an endpoint that hears only of broken promises, and one that hears of everything. */
class Watched {
  readonly owner = randomUUID();
  readonly strict = randomUUID();
  readonly plain = randomUUID();
  readonly #machine = randomUUID();
  readonly node = nodeSelector(this.#machine);
  #revision = 100;
  #place!: Parameters<EndpointNotices['apply']>[0];

  /** Records the promises, and has the notices look at all of the record. */
  static async with(...schedules: string[]): Promise<Watched> {
    const watched = new Watched();
    // What the test before made up is not in the record: back to where that ends.
    const { place } = await notices.look(store);
    const { owner, strict, plain } = watched;
    const stream = machineStream(watched.#machine);
    const token = { id: randomUUID(), expiresAt: Number.MAX_SAFE_INTEGER, owner, name: 'box' };
    const [identifierHash, keyHash] = [randomUUID(), randomUUID()];
    await store.decide(machine, { stream }, admit({ machineId: watched.#machine, token, identifierHash, keyHash }), {
      actor,
    });
    const labels = Object.fromEntries(schedules.map((_, n) => [`shift-${n}`, 'yes']));
    await store.decide(machine, { stream }, { type: 'SetLabels', set: labels, remove: [] }, { actor });
    for (const [n, schedule] of schedules.entries())
      await watched.promise(labelSelector(`shift-${n}`, 'yes'), schedule);
    for (const [endpoint, promisedOnly] of [
      [strict, true],
      [plain, false],
    ] as const) {
      const command = { type: 'AddWebhookEndpoint', owner, host: 'a.example', events: SILENCES, promisedOnly } as const;
      await store.decide(webhookEndpoint, { stream: webhookStream(endpoint) }, command, { actor });
    }
    const batches = await store.readBatches(place!.checkpoint, 100);
    watched.#place = (await notices.apply(place!, batches, () => undefined))!;
    return watched;
  }

  promise(selector: string, schedule: string) {
    const command = { type: 'MakePromise', selector, schedule } as const;
    return store.decide(promiseBook, { stream: promisesStream(this.owner) }, command, { actor });
  }

  /** The record goes on as a test wants it: with an event, or a mark, at a time of its choice. */
  async hears(recordedAt: number, event?: LedgerEvent, stream = machineStream(this.#machine)): Promise<string> {
    const batch = this.#place.checkpoint + 1n;
    const eventId = randomUUID();
    this.#revision += 1;
    const fact = {
      kind: 'event' as const,
      stream,
      revision: this.#revision,
      batch,
      recordedAt,
      position: batch,
      eventId,
      commandId: eventId,
      ordinal: 0,
      actor,
      event: event ?? { type: 'None' },
      body: JSON.stringify(event),
    };
    const batches = [{ number: batch, recordedAt, facts: event === undefined ? [] : [fact], trace: null }];
    this.#place = (await notices.apply(this.#place, batches, () => undefined))!;
    return eventId;
  }

  goesAbsent(due: string, stopReason: 'update' | null = null): Promise<string> {
    return this.hears(at(due) + 1_000, wentAbsent({ dueAt: new Date(at(due)).toISOString(), stopReason }));
  }

  async told(endpoint: string): Promise<readonly string[]> {
    const rows = await database
      .selectFrom('webhook_delivery')
      .select('type')
      .where('endpoint', '=', endpoint)
      .orderBy('sequence')
      .execute();
    return rows.map(({ type }) => type);
  }

  kept() {
    return database.selectFrom('webhook_silence').select('told').where('endpoint', '=', this.strict).execute();
  }
}

it('tells of an absence in promised time at once, and of the return (N11, U5)', async () => {
  const watched = await Watched.with(WORKING_HOURS);
  await watched.goesAbsent('10:00');
  expect(await watched.told(watched.strict)).toEqual(['machine.absent']);
  await watched.hears(at('10:30'), returned(60));
  expect(await watched.told(watched.strict)).toEqual(['machine.absent', 'machine.returned']);
  expect(await watched.kept()).toEqual([]);
});

it('tells nothing of an absence that was over before promised time began, and all of it to who wants all (N11)', async () => {
  const watched = await Watched.with(WORKING_HOURS);
  await watched.goesAbsent('07:00');
  await watched.hears(at('09:00') - 1);
  await watched.hears(at('09:00') - 1, returned(60));
  await watched.hears(at('12:00'));
  expect(await watched.told(watched.strict)).toEqual([]);
  expect(await watched.told(watched.plain)).toEqual(['machine.absent', 'machine.returned']);
  expect(await watched.kept()).toEqual([]);
});

it('tells of an absence when promised time begins, once, under the id of its event, and then of the return (N11, U5)', async () => {
  const watched = await Watched.with('daily 13:00-14:00 UTC', WORKING_HOURS);
  const eventId = await watched.goesAbsent('07:00');
  await watched.hears(at('09:00') - 1);
  expect(await watched.told(watched.strict)).toEqual([]);
  await watched.hears(at('09:00'));
  for (const later of [at('09:05'), at('13:00'), at('09:00') + 86_400_000]) await watched.hears(later);
  expect(await watched.told(watched.strict)).toEqual(['machine.absent']);
  const { event_id } = await database
    .selectFrom('webhook_delivery')
    .select('event_id')
    .where('endpoint', '=', watched.strict)
    .executeTakeFirstOrThrow();
  expect(event_id).toBe(eventId);
  await watched.hears(at('12:00') + 86_400_000, returned(60));
  expect(await watched.told(watched.strict)).toEqual(['machine.absent', 'machine.returned']);
});

it('tells nothing without a promise, and when one is made that covers the time by then, tells of who is still absent (N11)', async () => {
  const watched = await Watched.with();
  await watched.goesAbsent('10:00');
  await watched.hears(at('11:00'), labelled({}));
  expect(await watched.told(watched.strict)).toEqual([]);
  await watched.promise(watched.node, 'always');
  await watched.hears(at('12:00'), { type: 'PromiseMade' }, promisesStream(watched.owner));
  expect(await watched.told(watched.strict)).toEqual(['machine.absent']);
});

it('tells of a stop that was announced as to everybody, and of the return from it (N11, O23)', async () => {
  const watched = await Watched.with('none');
  await watched.goesAbsent('10:00', 'update');
  await watched.hears(at('10:30'), returned(60));
  expect(await watched.told(watched.strict)).toEqual(['machine.stopped', 'machine.returned']);
});
