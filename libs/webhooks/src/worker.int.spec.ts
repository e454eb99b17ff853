import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Lifetime } from '@rollcall/lifetimes';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { certifiedFor, WebhookReceiver, type Behaviour, type Shown } from '../../../test/support/webhook-receiver.js';
import {
  checkTarget,
  deliveriesStanding,
  ensureWebhookKey,
  openWebhooks,
  parseAllowedTarget,
  pauseByPerson,
  readWebhookKey,
  SystemResolver,
  WebhookQueue,
  WebhookSecrets,
  WebhookWorker,
  type NewDelivery,
  type Resolver,
  type WebhookDatabase,
  type WebhookWorkerOptions,
} from './index.js';
import { sendOnce } from './send.js';
import { FixedResolver } from './testing/index.js';
import { tidyDeliveries } from './tidy.js';

let directory: string;
let tls: Shown;
let fresh: FreshDatabase;
let database: WebhookDatabase;
let queue: WebhookQueue;
let secrets: WebhookSecrets;
let owner: pg.Client;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-webhooks-'));
  tls = await certifiedFor(['hooks.example'], join(directory, 'ca'));
  fresh = await freshDatabase();
  database = openWebhooks({ connectionString: fresh.url, applicationName: 'rollcall test' });
  queue = await WebhookQueue.open({ connectionString: fresh.url, applicationName: 'rollcall test', looksAfter: false });
  const key = join(directory, 'key');
  await ensureWebhookKey(key);
  secrets = new WebhookSecrets(await readWebhookKey(key));
  owner = new pg.Client({ connectionString: fresh.ownerUrl });
  await owner.connect();
});
afterAll(async () => {
  await owner.end();
  await queue.close();
  await database.destroy();
  await fresh.drop();
  await rm(directory, { recursive: true });
});

let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(async () => {
  await stack.disposeAsync();
  await owner.query('truncate webhook_endpoint, webhook_delivery, webhook_sealed');
  await owner.query('delete from pgboss.job');
});

const receiver = async (behaviour?: Behaviour, { encrypted = false } = {}) => {
  const made = stack.use(await WebhookReceiver.listen(encrypted ? tls : undefined));
  if (behaviour) made.behaviour = behaviour;
  return made;
};

const endpointAt = async (url: string) => {
  const endpoint = randomUUID();
  const secret = await secrets.create(database, endpoint, url);
  await database
    .insertInto('webhook_endpoint')
    .values({
      endpoint,
      owner: 'anna',
      host: 'hooks.example',
      events: ['machine.absent'],
      first_batch: '1',
      created_at: new Date(),
    })
    .execute();
  return { endpoint, secret };
};

const notice = (endpoint: string, sequence = 1, machine: string | null = 'm-1'): NewDelivery => ({
  endpoint,
  eventId: randomUUID(),
  machine,
  sequence,
  type: 'machine.absent',
  body: JSON.stringify({ type: 'machine.absent', data: { sequence, name: 'Öfen' } }),
  occurredAt: Date.UTC(2026, 0, 1) + sequence,
});
const enqueue = (...notices: NewDelivery[]) =>
  database.transaction().execute((transaction) => queue.enqueueDeliveries(transaction, notices));

const LIMITS = { connect: 2_000, whole: 2_000, rest: 500, answer: 65_536, ending: 50 };
const work = (options: Partial<WebhookWorkerOptions> & { readonly allow?: readonly string[] } = {}) => {
  const { allow = ['127.0.0.1'], ...rest } = options;
  const worker = new WebhookWorker({
    database,
    queue,
    secrets,
    resolver: new FixedResolver({ 'hooks.example': [['127.0.0.1']] }),
    allowed: allow.map((text) => parseAllowedTarget(text)!),
    ca: tls.ca,
    log: { info: () => undefined, warn: () => undefined },
    limits: LIMITS,
    ...rest,
  });
  const life = stack.use(new Lifetime());
  life.run((signal) => worker.run(signal));
  return { worker, end: () => life.end() };
};
const workAt = (...receivers: WebhookReceiver[]) => work({ allow: receivers.map(({ port }) => `127.0.0.1:${port}`) });

const rowOf = ({ endpoint, eventId }: NewDelivery) =>
  database
    .selectFrom('webhook_delivery')
    .selectAll()
    .where('endpoint', '=', endpoint)
    .where('event_id', '=', eventId)
    .executeTakeFirstOrThrow();
const tried = (which: NewDelivery, times = 1) =>
  eventually(`${times} attempts`, async () => (await rowOf(which)).attempts >= times);
const endpointRow = (endpoint: string) =>
  database.selectFrom('webhook_endpoint').selectAll().where('endpoint', '=', endpoint).executeTakeFirstOrThrow();
const hearsNothing = () => owner.query('truncate read_model, read_model_gap');
/** The plane has heard all until now, but for so many hours that ended a minute ago. */
const hears = async (deafHours = 0): Promise<void> => {
  await hearsNothing();
  await owner.query(`insert into read_model (name, heard_until) values ('absence', now())`);
  await owner.query(
    `insert into read_model_gap (read_model, batch, from_at, to_at)
     select 'absence', 7, now() - interval '1 minute' - hours, now() - interval '1 minute' from make_interval(hours => $1) hours`,
    [deafHours],
  );
};
/** What waits for its time is due now. */
const letTimePass = () => owner.query(`update pgboss.job set start_after = now() where state < 'active'`);
const isGiven = (deliveries: readonly NewDelivery[], to: WebhookReceiver) =>
  eventually('all of it arrived', () => Promise.resolve(to.received.length >= deliveries.length));

it('sends the very bytes over TLS, signed as the public library verifies it, also while a secret is rolled (U5)', async () => {
  const hooks = await receiver(undefined, { encrypted: true });
  const { endpoint, secret } = await endpointAt(hooks.url('/in?key=1', 'hooks.example'));
  const sent = notice(endpoint);
  await enqueue(sent);
  workAt(hooks);
  await tried(sent);
  const [got] = hooks.received;
  expect(got).toMatchObject({ serverName: 'hooks.example', body: sent.body });
  expect(got?.headers).toMatchObject({ 'webhook-id': sent.eventId, 'content-type': 'application/json' });
  expect(new Webhook(secret).verify(got!.body, got!.headers)).toMatchObject({ type: 'machine.absent' });
  expect(await rowOf(sent)).toMatchObject({ state: 'delivered', last_status: 204, last_outcome: 'delivered' });

  const rolled = await secrets.roll(database, endpoint);
  const next = notice(endpoint, 2);
  await enqueue(next);
  await tried(next);
  for (const each of [secret, rolled])
    expect(new Webhook(each).verify(hooks.received[1]!.body, hooks.received[1]!.headers)).toBeDefined();
});

it('makes first attempts about one machine one at a time and in order, with two workers; a retry holds back nothing (I17)', async () => {
  const hooks = await receiver(({ headers }) => (headers['webhook-id'] === first.eventId ? 500 : 204));
  const { endpoint } = await endpointAt(hooks.url());
  // Few enough to be all sent before the first one's retry is due.
  const deliveries = Array.from({ length: 12 }, (_, index) => notice(endpoint, index + 1));
  const first = deliveries[0]!;
  await enqueue(...deliveries.toReversed());
  workAt(hooks);
  workAt(hooks);
  await isGiven(deliveries, hooks);
  expect(hooks.ids().slice(0, deliveries.length)).toEqual(deliveries.map(({ eventId }) => eventId));
  expect(hooks.received.every(({ beside }) => beside === 0)).toBe(true);
  await tried(first);
  expect(await rowOf(first)).toMatchObject({ state: 'waiting', attempts: 1, last_status: 500 });
  hooks.behaviour = () => 200;
  await letTimePass();
  await tried(first, 2);
  expect(hooks.ids()[deliveries.length]).toBe(first.eventId);
  expect(await rowOf(first)).toMatchObject({ state: 'delivered', attempts: 2 });
});

it('keeps a receiver that never answers from delaying anybody else, and asks it no more than four things at a time (row 45, I19)', async () => {
  const [slow, quick] = [await receiver(() => undefined), await receiver()];
  const [toSlow, toQuick] = [await endpointAt(slow.url()), await endpointAt(quick.url())];
  const many = Array.from({ length: 80 }, (_, index) => notice(toSlow.endpoint, index + 1, `m-${index}`));
  const few = Array.from({ length: 20 }, (_, index) => notice(toQuick.endpoint, index + 1, `m-${index}`));
  await enqueue(...many);
  const { end } = work({
    allow: [slow, quick].map(({ port }) => `127.0.0.1:${port}`),
    limits: { ...LIMITS, whole: 60_000 },
  });
  await eventually('the slow one is asked', () => Promise.resolve(slow.received.length > 0));
  await enqueue(...few);
  await isGiven(few, quick);
  expect(slow.received.length).toBeLessThanOrEqual(4);
  // The worker ends, and what was under way goes out again under the same id.
  const held = slow.ids();
  await end();
  slow.behaviour = () => 204;
  workAt(slow);
  await eventually('given back', () =>
    Promise.resolve(held.every((id) => slow.ids().filter((each) => each === id).length === 2)),
  );
});

it.each<[string, Behaviour, object, limit?: number]>([
  ['answers 500', () => 500, { last_outcome: 'refused', last_status: 500 }],
  ['never answers', () => undefined, { last_outcome: 'timed-out', last_status: null }, 500],
  ['hangs up', (_, answer) => void answer.destroy(), { last_outcome: 'broken-off', last_status: null }],
  [
    'answers without an end',
    (_, answer) => {
      const pour = (): void => void answer.write('x'.repeat(65_536), (error) => error ?? pour());
      pour();
      return undefined;
    },
    { last_outcome: 'delivered', last_status: 200 },
  ],
  [
    'begins an answer and never ends it',
    (_, answer) => void answer.writeHead(500).write('SECRET'),
    { last_outcome: 'refused', last_status: 500 },
  ],
])(
  'writes down no more than a word and a status of a receiver that %s (row 45, C26)',
  async (_, behaviour, expected, limit = 10_000) => {
    const hooks = await receiver(behaviour);
    const { endpoint } = await endpointAt(hooks.url());
    const sent = notice(endpoint);
    await enqueue(sent);
    work({ allow: [`127.0.0.1:${hooks.port}`], limits: { ...LIMITS, connect: limit, whole: limit } });
    await tried(sent);
    const row = await rowOf(sent);
    expect(row).toMatchObject({ ...expected, attempts: 1 });
    expect(JSON.stringify(row)).not.toContain('SECRET');
    expect(hooks.received).toHaveLength(1);
  },
);

it('waits for no more than the head of an answer for long: a receiver that never ends it holds nothing (row 45, I19)', async () => {
  const hooks = await receiver((_, answer) => void answer.writeHead(200).write('more to come'));
  const { endpoint } = await endpointAt(hooks.url());
  const sent = notice(endpoint);
  await enqueue(sent);
  // Longer than anybody waits here.
  work({ allow: [`127.0.0.1:${hooks.port}`], limits: { ...LIMITS, whole: 600_000, rest: 50 } });
  await tried(sent);
  expect(await rowOf(sent)).toMatchObject({ state: 'delivered', last_status: 200 });
});

it('does not follow where it is sent to, be it inwards or not (row 45, C26)', async () => {
  const inside = await receiver();
  const hooks = await receiver(
    (_, answer) => void answer.writeHead(302, { location: inside.url('/secret') }).end('SECRET'),
  );
  const { endpoint } = await endpointAt(hooks.url());
  const sent = notice(endpoint);
  await enqueue(sent);
  workAt(hooks, inside);
  await tried(sent);
  expect(await rowOf(sent)).toMatchObject({ state: 'waiting', last_outcome: 'redirected', last_status: 302 });
  expect(inside.connections).toBe(0);
});

it('waits as long as a busy receiver asks for', async () => {
  const hooks = await receiver((_, answer) => void answer.writeHead(503, { 'retry-after': '1800' }).end());
  const { endpoint } = await endpointAt(hooks.url());
  const sent = notice(endpoint);
  await enqueue(sent);
  workAt(hooks);
  await tried(sent);
  const { last_outcome: outcome, last_attempt_at: at, next_attempt_at: next } = await rowOf(sent);
  expect(outcome).toBe('throttled');
  expect((next!.getTime() - at!.getTime()) / 1_000).toBeCloseTo(1_800, 0);
});

it('connects to no address that was not checked, whatever a name stands for by then (row 45, C26)', async () => {
  const inside = await receiver(undefined, { encrypted: true });
  const attempt = async (url: string, resolver: Resolver) => {
    const { endpoint } = await endpointAt(url);
    const sent = notice(endpoint);
    await enqueue(sent);
    const { end } = work({ allow: [], resolver });
    await tried(sent);
    await end();
    return (await rowOf(sent)).last_outcome;
  };
  const at = (...answers: readonly (readonly string[])[]) => new FixedResolver({ 'hooks.example': answers });
  const url = 'https://hooks.example/';
  expect(await attempt(url, at(['169.254.169.254']))).toBe('address-not-allowed');
  expect(await attempt(url, at(['203.0.113.7', '127.0.0.1']))).toBe('address-not-allowed');
  expect(await attempt(inside.url(), at())).toBe('port-not-allowed');
  expect(await attempt('https://[::ffff:7f00:1]/', at())).toBe('address-not-allowed');
  expect(await attempt('https://0x7f000001/', at())).toBe('address-not-allowed');
  expect(await attempt('https://unknown.example/', at())).toBe('not-resolved');
  expect(inside.connections).toBe(0);
});

it('looks again at the address once it is connected, before it says a word (C26)', async () => {
  const inside = await receiver(undefined, { encrypted: true });
  const target = { url: new URL(inside.url()), addresses: ['127.0.0.1'] };
  const signal = new AbortController().signal;
  const options = { allowed: [], ca: null, limits: LIMITS, signal };
  expect(await sendOnce(target, { headers: {}, body: '{}' }, options)).toMatchObject({
    outcome: 'address-not-allowed',
  });
  expect(inside.received).toEqual([]);
});

it('believes nobody who cannot show a certificate for the name, and sends it nothing', async () => {
  const hooks = await receiver(undefined, { encrypted: true });
  const { endpoint } = await endpointAt(hooks.url('/', 'other.example'));
  const [sent, away] = [notice(endpoint), notice((await endpointAt('http://127.0.0.1:1/')).endpoint)];
  await enqueue(sent, away);
  work({
    allow: [`127.0.0.1:${hooks.port}`, '127.0.0.1:1'],
    resolver: new FixedResolver({ 'other.example': [['127.0.0.1']] }),
  });
  await tried(sent);
  await tried(away);
  expect(await rowOf(sent)).toMatchObject({ last_outcome: 'tls-failed', last_status: null });
  expect(await rowOf(away)).toMatchObject({ last_outcome: 'not-connected', last_status: null });
  expect(hooks.received).toEqual([]);
});

it('pauses what fails five times in a row, connects only to look, and sends what waited in order once it is back (row 45, U5)', async () => {
  const hooks = await receiver(() => 500);
  const { endpoint } = await endpointAt(hooks.url());
  const deliveries = Array.from({ length: 8 }, (_, index) => notice(endpoint, index + 1));
  await enqueue(...deliveries);
  workAt(hooks);
  await eventually('paused', async () => (await endpointRow(endpoint)).paused_at !== null);
  const paused = await endpointRow(endpoint);
  expect(paused).toMatchObject({ pause_reason: 'failing', failures: 5 });
  expect(paused.probe_at!.getTime() - paused.paused_at!.getTime()).toBeGreaterThanOrEqual(59_000);
  expect(await deliveriesStanding(database)).toMatchObject({
    waiting: 8,
    overdueSeconds: 0,
    pausedEndpoints: { failing: 1, gone: 0, person: 0 },
  });
  // Its turns come and go, and so do its retries, and its probe.
  await letTimePass();
  await eventually('a probe', async () => (await endpointRow(endpoint)).failures === 6);
  await eventually(
    'the turns are over',
    async () => (await queue.boss.findJobs('webhook-first', { queued: true })).length === 0,
  );
  expect(hooks.received).toHaveLength(6);
  expect((await rowOf(deliveries[0]!)).attempts).toBe(1);

  hooks.behaviour = () => 200;
  await letTimePass();
  await eventually('back', async () => (await endpointRow(endpoint)).paused_at === null);
  await letTimePass();
  await eventually('all of it', async () => (await deliveriesStanding(database)).waiting === 0);
  expect(await endpointRow(endpoint)).toMatchObject({ failures: 0, failing_since: null, probe_at: null });
  const firsts = [...new Set(hooks.ids().slice(6))].filter((id) =>
    deliveries.slice(5).some(({ eventId }) => eventId === id),
  );
  expect(firsts).toEqual(deliveries.slice(5).map(({ eventId }) => eventId));
});

it('pauses at once what says that it is gone, or what a person wants paused, until somebody resumes it (row 45)', async () => {
  const hooks = await receiver(() => 410);
  const { endpoint } = await endpointAt(hooks.url());
  const [first, second] = [notice(endpoint, 1), notice(endpoint, 2)];
  await enqueue(first);
  workAt(hooks);
  await eventually('paused', async () => (await endpointRow(endpoint)).pause_reason === 'gone');
  await enqueue(second);
  await letTimePass();
  await eventually(
    'its turns are over',
    async () => (await queue.boss.findJobs('webhook-first', { queued: true })).length === 0,
  );
  hooks.behaviour = () => 200;
  expect(hooks.received).toHaveLength(1);
  await database.transaction().execute((transaction) => queue.resume(transaction, endpoint));
  await tried(second);
  await pauseByPerson(database, endpoint);
  const third = notice(endpoint, 3);
  await enqueue(third);
  await eventually(
    'its turn is over',
    async () => (await queue.boss.findJobs('webhook-first', { queued: true })).length === 0,
  );
  expect(await rowOf(third)).toMatchObject({ state: 'waiting', attempts: 0 });
});

it('does not take this host for another one by any of its names, as the system resolves them (C26)', async () => {
  for (const name of ['localhost', 'localhost.', 'LOCALHOST'])
    expect(await checkTarget(`https://${name}/`, { resolver: new SystemResolver(), allowed: [] })).toEqual({
      // There are systems that do not know it with a dot.
      problem: expect.stringMatching(
        name.endsWith('.') ? /^(address-not-allowed|not-resolved)$/ : /^address-not-allowed$/,
      ),
    });
});

it('writes nothing over what another worker has written of the same notice meanwhile (I17)', async () => {
  const hooks = await receiver(async () => {
    await database.updateTable('webhook_delivery').set({ attempts: 7, last_outcome: 'refused' }).execute();
    return 204;
  });
  const { endpoint } = await endpointAt(hooks.url());
  const sent = notice(endpoint);
  await enqueue(sent);
  workAt(hooks);
  await tried(sent);
  await eventually('its turn is over', async () =>
    (await queue.boss.findJobs('webhook-first', { queued: false })).every(({ state }) => state === 'completed'),
  );
  expect(await rowOf(sent)).toMatchObject({ state: 'waiting', attempts: 7, last_outcome: 'refused' });
});

it('goes by what a probe has shown, whatever became of its notice meanwhile: another look, or the end of the pause (U5)', async () => {
  const overtaken = [500, 204];
  const hooks = await receiver(async ({ headers }) => {
    const status = overtaken.shift();
    if (status === undefined) return 204;
    const tooOld = { state: 'failed', last_outcome: 'too-old' } as const;
    await database.updateTable('webhook_delivery').set(tooOld).where('event_id', '=', headers['webhook-id']!).execute();
    return status;
  });
  const { endpoint } = await endpointAt(hooks.url());
  const notices = [1, 2, 3].map((sequence) => notice(endpoint, sequence));
  await enqueue(...notices);
  const probeAt = new Date();
  await database
    .updateTable('webhook_endpoint')
    .set({ paused_at: probeAt, pause_reason: 'failing', failures: 5, probe_at: probeAt })
    .execute();
  await database
    .transaction()
    .execute((transaction) => queue.tryLater(transaction, [{ endpoint, probeAt: probeAt.toISOString(), seconds: 0 }]));
  workAt(hooks);
  await eventually('the first probe is written down', async () => (await endpointRow(endpoint)).failures === 6);
  expect((await endpointRow(endpoint)).probe_at!.getTime()).toBeGreaterThan(probeAt.getTime() + 59_000);
  await letTimePass();
  await eventually('it is back', async () => (await endpointRow(endpoint)).paused_at === null);
  await tried(notices[2]!);
  expect(hooks.ids()).toEqual(notices.map(({ eventId }) => eventId));
  expect(await rowOf(notices[0]!)).toMatchObject({ state: 'failed', last_outcome: 'too-old' });
});

it('sends nothing to what was removed, and gives up what is too old by the time in which the plane has listened (U5, B1)', async () => {
  const hooks = await receiver();
  const [gone, away] = [await endpointAt(hooks.url()), await endpointAt(hooks.url())];
  const [first, second, third] = [notice(gone.endpoint), notice(away.endpoint), notice(randomUUID())];
  await enqueue(first, second, third);
  await database.transaction().execute((transaction) => queue.remove(transaction, gone.endpoint));
  await pauseByPerson(database, away.endpoint);
  const age = (hours: number) =>
    owner.query(`update webhook_delivery set enqueued_at = now() - make_interval(hours => ${hours})`);
  await age(24 * 31);
  // Nothing tells what time it is while who hears it begins anew; and a time in which the plane was deaf is not counted.
  await hearsNothing();
  await tidyDeliveries(database);
  expect(await rowOf(second)).toMatchObject({ state: 'waiting' });
  await hears(24 * 29);
  await tidyDeliveries(database);
  expect(await rowOf(first)).toMatchObject({ state: 'failed', last_outcome: 'endpoint-removed' });
  expect(await rowOf(second)).toMatchObject({ state: 'waiting' });
  await hears();
  await age(73);
  // What waits for a person who paused its endpoint is given up, and nobody's worry.
  expect(await tidyDeliveries(database)).toEqual({ givenUp: 0 });
  expect(await rowOf(first)).toMatchObject({ state: 'failed', last_outcome: 'endpoint-removed' });
  expect(await rowOf(second)).toMatchObject({ state: 'failed', last_outcome: 'too-old' });
  expect(await rowOf(third)).toMatchObject({ state: 'waiting' });
  await age(97);
  expect(await tidyDeliveries(database)).toEqual({ givenUp: 1 });
  expect(await rowOf(third)).toMatchObject({ state: 'failed', last_outcome: 'too-old' });
  await age(24 * 31);
  await tidyDeliveries(database);
  expect(await deliveriesStanding(database)).toEqual({
    waiting: 0,
    oldestWaitingSeconds: 0,
    overdueSeconds: 0,
    pausedEndpoints: { failing: 0, gone: 0, person: 1 },
  });
  expect(await database.selectFrom('webhook_delivery').selectAll().execute()).toEqual([]);
  workAt(hooks);
  await eventually(
    'the turns are over',
    async () => (await queue.boss.findJobs('webhook-first', { queued: true })).length === 0,
  );
  expect(hooks.connections).toBe(0);
});

it('counts what it gives up after the last attempt (I17)', async () => {
  const hooks = await receiver(() => 500);
  const { endpoint } = await endpointAt(hooks.url());
  const sent = notice(endpoint);
  await enqueue(sent);
  await owner.query('update webhook_delivery set attempts = 9');
  await database
    .transaction()
    .execute((transaction) =>
      queue.tryLater(transaction, [{ endpoint, eventId: sent.eventId, attempts: 9, seconds: 0 }]),
    );
  const { worker } = workAt(hooks);
  await eventually('it is counted', () => Promise.resolve(worker.status().givenUp > 0));
  expect(worker.status().givenUp).toBe(1);
  expect(await rowOf(sent)).toMatchObject({ state: 'failed', attempts: 10 });
});

it('tells for how long a notice has been due that nobody sends, a pause apart and a retry whose time has not come', async () => {
  const [first, second] = [await endpointAt('https://hooks.example'), await endpointAt('https://hooks.example')];
  await enqueue(notice(first.endpoint), notice(second.endpoint));
  const overdue = async () => Math.round((await deliveriesStanding(database)).overdueSeconds / 3_600);
  await owner.query(`update webhook_delivery set enqueued_at = now() - interval '2 hours'`);
  expect(await overdue()).toBe(2);
  await owner.query(`update webhook_delivery set attempts = 1, next_attempt_at = now() + interval '1 hour'`);
  expect(await overdue()).toBe(0);
  await owner.query(`update webhook_delivery set next_attempt_at = now() - interval '1 hour'`);
  expect(await overdue()).toBe(1);
  await pauseByPerson(database, first.endpoint);
  await pauseByPerson(database, second.endpoint);
  expect(await overdue()).toBe(0);
});

it('tidies however much there is, and what is known of silences that were over a month ago', async () => {
  const many = Array.from({ length: 1_050 }, (_, index) => notice(randomUUID(), index + 1));
  await enqueue(...many);
  await hears();
  await owner.query(`update webhook_delivery set enqueued_at = now() - interval '5 days'`);
  const [past, recent, open] = [randomUUID(), randomUUID(), randomUUID()];
  await owner.query(
    `insert into silence_hold (hold, owner, opened_at, ends_at, closed_at, body, digest)
     select hold, hold::text, now() - interval '40 days', now(), closed, '{}', hold
     from (values ($1::uuid, now() - interval '31 days'), ($2, now() - interval '29 days'), ($3, null)) holds (hold, closed)`,
    [past, recent, open],
  );
  await owner.query(
    `insert into silence_held (hold, machine, last_check_at, due_at, endpoints)
     select hold, 'm-1', now(), now(), '{}' from silence_hold`,
  );
  await tidyDeliveries(database);
  expect((await deliveriesStanding(database)).waiting).toBe(0);
  for (const table of ['silence_hold', 'silence_held'] as const) {
    const rows = await database.selectFrom(table).select('hold').execute();
    expect(rows.map(({ hold }) => hold).sort()).toEqual([recent, open].sort());
  }
});

it('lets deliveries wait where there is no key, and says so; with another key they fail by name and are kept (U5)', async () => {
  const hooks = await receiver();
  const { endpoint } = await endpointAt(hooks.url());
  const sent = notice(endpoint);
  await enqueue(sent);
  const { worker } = work({ secrets: new WebhookSecrets(await readWebhookKey(null)) });
  expect(worker.status().problem).toBe('Webhooks wait: ROLLCALL_WEBHOOK_KEY_FILE is not set.');
  const other = join(directory, 'other');
  await ensureWebhookKey(other);
  const { end } = work({ secrets: new WebhookSecrets(await readWebhookKey(other)) });
  await tried(sent);
  await end();
  expect(await rowOf(sent)).toMatchObject({ state: 'waiting', attempts: 1, last_outcome: 'not-unsealed' });
  workAt(hooks);
  await letTimePass();
  await tried(sent, 2);
  expect(await rowOf(sent)).toMatchObject({ state: 'delivered' });
});
