import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Lifetime } from '@rollcall/lifetimes';
import pg from 'pg';
import { bundled, type Bundled } from '../../../test/support/bundled.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually, Processes } from '../../../test/support/processes.js';
import { WebhookReceiver } from '../../../test/support/webhook-receiver.js';
import {
  ensureWebhookKey,
  openWebhooks,
  parseAllowedTarget,
  readWebhookKey,
  SystemResolver,
  WebhookQueue,
  WebhookSecrets,
  WebhookWorker,
  type DeliveryStep,
  type WebhookDatabase,
} from './index.js';

let directory: string;
let keyFile: string;
let program: Bundled;
let fresh: FreshDatabase;
let database: WebhookDatabase;
let queue: WebhookQueue;
let secrets: WebhookSecrets;
let owner: pg.Client;
const troubles: Error[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-webhooks-'));
  keyFile = join(directory, 'key');
  await ensureWebhookKey(keyFile);
  secrets = new WebhookSecrets(await readWebhookKey(keyFile));
  program = await bundled(resolve(import.meta.dirname, '../../../test/faults/programs/webhook-worker.ts'));
  fresh = await freshDatabase();
  const connection = { connectionString: fresh.url, applicationName: 'rollcall test' };
  database = openWebhooks(connection);
  queue = await WebhookQueue.open({ ...connection, looksAfter: false, onTrouble: (error) => troubles.push(error) });
  owner = new pg.Client({ connectionString: fresh.ownerUrl });
  await owner.connect();
});
afterAll(async () => {
  await owner.end();
  await queue.close();
  await database.destroy();
  await fresh.drop();
  await program[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

/** Half a minute later, somebody looks for what was lost; as the application role. */
const letHalfAMinutePass = async () => {
  await owner.query(`update pgboss.job set started_on = started_on - interval '31 s' where state = 'active'`);
  await owner.query('update pgboss.queue set monitor_claim_on = null, monitor_on = null, maintain_on = null');
  await queue.boss.supervise();
};

it.each<[DeliveryStep, number]>([
  ['taken', 1],
  ['sent', 2],
  ['settled', 1],
])(
  'after kill -9 when a delivery is %s, another worker goes on in order: nothing under another id, nothing lost (U5, I17)',
  async (endsAt, times) => {
    await using receiver = await WebhookReceiver.listen();
    await using processes = new Processes();
    const endpoint = randomUUID();
    await secrets.create(database, endpoint, receiver.url());
    const row = { owner: 'anna', host: 'x', events: ['a'], first_batch: '1', created_at: new Date() };
    await database
      .insertInto('webhook_endpoint')
      .values({ endpoint, ...row })
      .execute();
    const deliveries = [1, 2, 3].map((sequence) => ({
      endpoint,
      eventId: randomUUID(),
      machine: 'm-1',
      sequence,
      type: 'machine.absent',
      body: '{}',
      occurredAt: 0,
    }));
    await database.transaction().execute((transaction) => queue.enqueueDeliveries(transaction, deliveries));

    const allow = `127.0.0.1:${receiver.port}`;
    const settings = JSON.stringify({ connectionString: fresh.url, keyFile, allow, endsAt });
    const killed = await processes.start('the worker', process.execPath, [program.path, settings]);
    expect(await killed.exited).toMatchObject({ signal: 'SIGKILL' });

    await letHalfAMinutePass();
    await using life = new Lifetime();
    const worker = new WebhookWorker({
      database,
      queue,
      secrets,
      resolver: new SystemResolver(),
      allowed: [parseAllowedTarget(allow)!],
      ca: null,
      log: { info: () => undefined, warn: () => undefined },
    });
    life.run((signal) => worker.run(signal));
    const waiting = () =>
      database.selectFrom('webhook_delivery').select('event_id').where('state', '=', 'waiting').execute();
    await eventually('all is delivered', async () => (await waiting()).length === 0);

    const ids = deliveries.map(({ eventId }) => eventId);
    expect([...new Set(receiver.ids())]).toEqual(ids);
    expect(receiver.ids().filter((id) => id === ids[0])).toHaveLength(times);
    expect(receiver.ids()).toHaveLength(ids.length + times - 1);
    expect(troubles).toEqual([]);
  },
);
