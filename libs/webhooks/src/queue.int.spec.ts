import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql, type Transaction } from 'kysely';
import pg from 'pg';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import {
  JobQueueMissing,
  openWebhooks,
  WebhookQueue,
  type DeliveryState,
  type NewDelivery,
  type WebhookDatabase,
  type WebhookTables,
} from './index.js';
import { FIRST_ATTEMPTS, RESTS, SLICE, type Rest } from './queue.js';

let fresh: FreshDatabase;
let database: WebhookDatabase;
let queue: WebhookQueue;

const open = () =>
  WebhookQueue.open({ connectionString: fresh.url, applicationName: 'rollcall test', looksAfter: false });

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openWebhooks({ connectionString: fresh.url, applicationName: 'rollcall test' });
  queue = await open();
});
afterAll(async () => {
  await queue.close();
  await database.destroy();
  await fresh.drop();
});

const endpoint = randomUUID();
const notice = (given: Partial<NewDelivery> = {}): NewDelivery => ({
  endpoint,
  eventId: randomUUID(),
  machine: 'm-1',
  sequence: 1,
  type: 'machine.absent',
  body: '{"type":"machine.absent"}',
  occurredAt: Date.UTC(2026, 0, 1),
  ...given,
});
const turns = async () => (await queue.boss.findJobs('webhook-first', { queued: true })).length;
const enqueue = (...notices: NewDelivery[]) =>
  database.transaction().execute((transaction) => queue.enqueueDeliveries(transaction, notices));

it('takes a notice once per endpoint and event, with one turn for each, in the transaction of its caller (U5)', async () => {
  const once = notice();
  expect(await enqueue(once, notice({ sequence: 2 }))).toBe(2);
  expect(await enqueue(once, { ...once, endpoint: randomUUID() })).toBe(1);
  expect(await turns()).toBe(3);
  const undone = database.transaction().execute(async (transaction) => {
    await queue.enqueueDeliveries(transaction, [notice()]);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await turns()).toBe(3);
  expect(await database.selectFrom('webhook_delivery').select('event_id').execute()).toHaveLength(3);
});

it('gives the turns that are there also where the clock of the database was put back, and counts ages by the record (U5)', async () => {
  const owner = new pg.Client({ connectionString: fresh.ownerUrl });
  await owner.connect();
  try {
    const tomorrow = new Date(Date.now() + 86_400_000);
    await owner.query('insert into batch (number, recorded_at, events, checks) values (1, $1, 0, 0)', [tomorrow]);
    const given = notice({ endpoint: randomUUID() });
    await enqueue(given);
    const { enqueued_at: enqueuedAt } = await database
      .selectFrom('webhook_delivery')
      .select('enqueued_at')
      .where('endpoint', '=', given.endpoint)
      .executeTakeFirstOrThrow();
    expect(enqueuedAt).toEqual(tomorrow);
    await owner.query(`update pgboss.job set start_after = now() + interval '1 hour' where name = $1`, [
      FIRST_ATTEMPTS,
    ]);
    const taken = await queue.take(64);
    expect(taken.map(({ todo }) => todo)).toContainEqual({ endpoint: given.endpoint, machine: given.machine });
    await Promise.all(taken.map((job) => queue.complete(database, job)));
  } finally {
    await owner.end();
  }
});

it('sends again what was asked for, under the ids it had, and nothing that waits for its first attempt (U5)', async () => {
  const [first, second] = [notice({ endpoint: randomUUID() }), notice({ type: 'machine.returned' })];
  const given = [first, { ...second, endpoint: first.endpoint, occurredAt: Date.UTC(2026, 0, 2) }];
  await enqueue(...given);
  const replay = (which: Parameters<WebhookQueue['replayDeliveries']>[2]) =>
    database.transaction().execute((transaction) => queue.replayDeliveries(transaction, first.endpoint, which));
  const all = { from: 0, to: Date.UTC(2027, 0, 1), types: null };
  expect(await replay(all)).toBe(0);
  const settle = () =>
    database
      .updateTable('webhook_delivery')
      .set({ state: 'failed', attempts: 10 })
      .where('endpoint', '=', first.endpoint)
      .execute();
  await settle();
  const before = await turns();
  expect(await replay(all)).toBe(2);
  expect(await turns()).toBe(before + 2);
  await settle();
  expect(await replay({ ...all, types: ['machine.returned'] })).toBe(1);
  await settle();
  expect(await replay({ ...all, to: Date.UTC(2026, 0, 2) })).toBe(1);
  await settle();
  expect(await replay({ eventId: second.eventId })).toBe(1);
  expect(
    await database
      .selectFrom('webhook_delivery')
      .select(['event_id', 'attempts'])
      .where('state', '=', 'waiting')
      .where('endpoint', '=', first.endpoint)
      .execute(),
  ).toEqual([{ event_id: second.eventId, attempts: 0 }]);
});

it('changes many deliveries a part at a time, and leaves none out: sent again, resumed, given up (U5)', async () => {
  const [busy, other] = [randomUUID(), randomUUID()];
  const many = Array.from({ length: 2 * SLICE + 7 }, (_, index) =>
    notice({ endpoint: busy, sequence: index + 1, occurredAt: Date.UTC(2026, 0, 1) + Math.floor(index / 3) }),
  );
  await enqueue(...many, notice({ endpoint: other }));
  await addRow(busy);
  const inParts = async (begin: (transaction: Transaction<WebhookTables>) => Promise<unknown>): Promise<number> => {
    await database.transaction().execute(begin);
    let parts = 1;
    for (;;) {
      const [left] = await queue.boss.fetch<Rest>(RESTS);
      if (left === undefined) return parts;
      await database.transaction().execute((transaction) => queue.goOn(transaction, left.data));
      await queue.boss.complete(RESTS, left.id);
      parts += 1;
    }
  };
  const inState = async (state: DeliveryState, attempts: number): Promise<number> =>
    (
      await database
        .selectFrom('webhook_delivery')
        .select('event_id')
        .where('endpoint', '=', busy)
        .where('state', '=', state)
        .where('attempts', '=', attempts)
        .execute()
    ).length;
  const set = (change: { readonly state: DeliveryState; readonly attempts: number }) =>
    database.updateTable('webhook_delivery').set(change).where('endpoint', '=', busy).execute();

  await set({ state: 'delivered', attempts: 1 });
  const all = { from: 0, to: Date.UTC(2027, 0, 1), types: null };
  const turnsOf = async () => {
    const { rows } = await sql<{ turns: number }>`select count(*)::integer as turns from pgboss.job
      where name = 'webhook-first' and data ->> 'endpoint' = ${busy}`.execute(database);
    return rows[0]?.turns;
  };
  expect(await turnsOf()).toBe(many.length);
  expect(await inParts((transaction) => queue.replayDeliveries(transaction, busy, all))).toBe(3);
  expect(await inState('waiting', 0)).toBe(many.length);
  expect(await turnsOf()).toBe(2 * many.length);

  await set({ state: 'waiting', attempts: 2 });
  const paused = { paused_at: new Date(), pause_reason: 'person' } as const;
  await database.updateTable('webhook_endpoint').set(paused).where('endpoint', '=', busy).execute();
  expect(await inParts((transaction) => queue.resume(transaction, busy))).toBe(3);
  const { rows: later } = await sql<{ event: string }>`select distinct data ->> 'eventId' as event from pgboss.job
    where name = 'webhook-later'`.execute(database);
  expect(later).toHaveLength(many.length);

  expect(await inParts((transaction) => queue.remove(transaction, busy))).toBe(3);
  expect(await inState('failed', 2)).toBe(many.length);
  // What is left of a replay finds nobody any more.
  await set({ state: 'delivered', attempts: 1 });
  await database.transaction().execute((transaction) =>
    queue.goOn(transaction, {
      endpoint: busy,
      rest: 'replay',
      which: all,
      after: { occurredAt: 0, eventId: randomUUID() },
    }),
  );
  expect(await inState('delivered', 1)).toBe(many.length);
});

const addRow = (id: string) =>
  database
    .insertInto('webhook_endpoint')
    .values({
      endpoint: id,
      owner: 'ada',
      host: 'hooks.example',
      events: ['machine.absent'],
      first_batch: '1',
      created_at: new Date(),
    })
    .execute();

it('says what to do where the schema of the job queue is not there', async () => {
  const owner = new pg.Client({ connectionString: fresh.ownerUrl });
  await owner.connect();
  try {
    await owner.query('alter schema pgboss rename to elsewhere');
    await expect(open()).rejects.toThrow(JobQueueMissing);
    await expect(open()).rejects.toThrow('Run rollcall-setup migrate');
    await owner.query('alter schema elsewhere rename to pgboss');
  } finally {
    await owner.end();
  }
});
