import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { LedgerEvent } from '@rollcall/event-store';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { machine, machineStream } from '@rollcall/machine';
import { admit, labelled, returned, wentAbsent } from '@rollcall/machine/testing';
import { labelSelector, promiseBook, promisesStream, nodeSelector } from '@rollcall/promise-book';
import { webhookEndpoint, webhookStream, type Subscribable } from '@rollcall/webhook-endpoint';
import { EndpointNotices, openWebhooks, WebhookQueue, type WebhookDatabase } from '@rollcall/webhooks';
import { sql } from 'kysely';
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

/** A person with machines, an endpoint that hears only of broken promises, and one that hears of everything. */
class Watched {
  readonly owner = randomUUID();
  readonly strict = randomUUID();
  readonly plain = randomUUID();
  readonly #machines: readonly string[];
  #revision = 100;
  #place!: Parameters<EndpointNotices['apply']>[0];

  private constructor(size: number) {
    this.#machines = Array.from({ length: size }, () => randomUUID());
  }

  get node(): string {
    return nodeSelector(this.#machines[0]!);
  }

  static with(...schedules: string[]): Promise<Watched> {
    return Watched.of(1, ...schedules);
  }

  /** Records machines and promises, and has the notices look at all of the record. */
  static async of(size: number, ...schedules: string[]): Promise<Watched> {
    const watched = new Watched(size);
    // What the test before made up is not in the record: back to where that ends.
    const { place } = await notices.look(store);
    const { owner, strict, plain } = watched;
    const labels = Object.fromEntries(schedules.map((_, n) => [`shift-${n}`, 'yes']));
    const joins = async (machineId: string): Promise<void> => {
      const stream = machineStream(machineId);
      const token = { id: randomUUID(), expiresAt: Number.MAX_SAFE_INTEGER, owner, name: 'box' };
      const [identifierHash, keyHash] = [randomUUID(), randomUUID()];
      await store.decide(machine, { stream }, admit({ machineId, token, identifierHash, keyHash }), { actor });
      await store.decide(machine, { stream }, { type: 'SetLabels', set: labels, remove: [] }, { actor });
      await sql`insert into presence_machine (machine, node, owner, admitted_at, blockers, revision)
        values (${machineId}, ${machineId}, ${owner}, now(), '[]', 2)`.execute(database);
    };
    await Promise.all(watched.#machines.map(joins));
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

  /** The record goes on as a test wants it: with events, or a mark, at a time of its choice. */
  async hears(
    recordedAt: number,
    event?: LedgerEvent,
    stream = machineStream(this.#machines[0]!),
    ...more: LedgerEvent[]
  ): Promise<string> {
    const batch = this.#place.checkpoint + 1n;
    const facts = (event === undefined ? [] : [event, ...more]).map((each) => {
      const eventId = randomUUID();
      this.#revision += 1;
      return {
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
        event: each,
        body: JSON.stringify(each),
      };
    });
    this.#place = (await notices.apply(
      this.#place,
      [{ number: batch, recordedAt, facts, trace: null }],
      () => undefined,
    ))!;
    return facts[0]?.eventId ?? '';
  }

  goesAbsent(due: string, stopReason: 'update' | null = null): Promise<string> {
    return this.hears(at(due) + 1_000, wentAbsent({ dueAt: new Date(at(due)).toISOString(), stopReason }));
  }

  /** The first so many of them, one after the other. */
  async goAbsent(due: string, count: number): Promise<void> {
    for (const each of this.#machines.slice(0, count))
      await this.hears(at(due), wentAbsent({ dueAt: new Date(at(due)).toISOString() }), machineStream(each));
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

it('tells of many as of one silence where promised time begins for all of them, under an id that follows from them (N11, B4)', async () => {
  const watched = await Watched.of(12, WORKING_HOURS);
  await watched.goAbsent('07:00', 11);
  expect(await watched.told(watched.plain)).toHaveLength(11);
  await watched.hears(at('09:00') - 1);
  expect(await watched.told(watched.strict)).toEqual([]);
  await watched.hears(at('12:00'));
  await watched.hears(at('12:05'));
  const [digest, ...more] = await database
    .selectFrom('webhook_delivery')
    .select(['body', 'event_id as id', 'machine'])
    .where('endpoint', '=', watched.strict)
    .execute();
  expect(more).toEqual([]);
  const { data, timestamp } = JSON.parse(digest!.body) as { data: { machines: object[] }; timestamp: string };
  expect(timestamp).toBe('2126-01-14T09:00:00.000Z');
  expect(data).toMatchObject({ machine: null, phase: 'ended', silence: digest!.id, absent: 11 });
  expect(data.machines).toHaveLength(11);
  expect(data.machines[0]).toMatchObject({ name: 'box', dueAt: '2126-01-14T07:00:00.000Z' });
  // They were told of, so is their return.
  await watched.hears(at('13:00'), returned(60));
  expect(await watched.told(watched.strict)).toEqual(['fleet.silence', 'machine.returned']);
});

it('tells of each where promised time begins for few of a fleet (N11, B4)', async () => {
  const watched = await Watched.of(10, WORKING_HOURS);
  await watched.goAbsent('07:00', 9);
  await watched.hears(at('09:00'));
  expect(await watched.told(watched.strict)).toEqual(Array.from({ length: 9 }, () => 'machine.absent'));
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

it('passes over an event of which the database refuses what is to be told, and tells of all others (U5)', async () => {
  const watched = await Watched.with();
  const tooLong = wentAbsent({ stopReason: 'x'.repeat(20_500) as 'update' });
  await watched.hears(at('10:00'), tooLong, undefined, returned(60));
  expect(await watched.told(watched.plain)).toEqual(['machine.returned']);
  expect(notices.skipped).toBe(1);
});

it('tells of a stop that was announced as to everybody, and of the return from it (N11, O23)', async () => {
  const watched = await Watched.with('none');
  await watched.goesAbsent('10:00', 'update');
  await watched.hears(at('10:30'), returned(60));
  expect(await watched.told(watched.strict)).toEqual(['machine.stopped', 'machine.returned']);
});
