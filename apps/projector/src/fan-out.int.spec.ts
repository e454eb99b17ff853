import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { credentialKey, machine, machineStream } from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';
import { createLogger } from '@rollcall/nest-platform';
import { recordingLogger } from '@rollcall/nest-platform/testing';
import {
  dumpTables,
  MemoryReadModels,
  openReadModels,
  ReadModelQueries,
  type ReadModelDatabase,
} from '@rollcall/read-models';
import { startNats, type TestNats } from '../../../test/support/nats.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { readProjectorConfig, start, type Projector } from './index.js';

jest.setTimeout(120_000);

const silent = createLogger({ name: 'test', level: 'silent' });
const actor = { kind: 'person', id: 'test' } as const;

let fresh: FreshDatabase;
let nats: TestNats;
let store: PostgresEventStore;
let database: ReadModelDatabase;

beforeAll(async () => {
  [fresh, nats] = await Promise.all([freshDatabase(), startNats()]);
  store = await PostgresEventStore.connect({ connectionString: fresh.url });
  database = openReadModels({ connectionString: fresh.url });
});
afterAll(async () => {
  await store.close();
  await database.destroy();
  await Promise.all([fresh.drop(), nats.close()]);
});

const config = (settings: Readonly<Record<string, string>> = {}) =>
  readProjectorConfig({
    ROLLCALL_DATABASE_URL: fresh.url,
    ROLLCALL_PROJECTOR_PORT: '0',
    ROLLCALL_NATS_URL: nats.url,
    ROLLCALL_NATS_RELAY_CREDENTIALS_FILE: nats.credentials.relay,
    ROLLCALL_NATS_READER_CREDENTIALS_FILE: nats.credentials.projector,
    ROLLCALL_NATS_EVENTS_MIB: '16',
    ROLLCALL_NATS_BATCHES_MIB: '16',
    ...settings,
  });

const health = async ({ url }: Projector) => {
  const answer = await fetch(`${url}/readyz`);
  return { code: answer.status, ...((await answer.json()) as { status: string; feed: { relay: string } | null }) };
};

const becomes = (projector: Projector, status: string) =>
  eventually(`the projector is ${status}`, async () => (await health(projector)).status === status, 30_000);

/** A machine that checks in a few times. */
const live = async (checks: number): Promise<void> => {
  const machineId = randomUUID();
  const keyHash = machineId.replaceAll('-', '').padEnd(64, '0');
  const token = { id: randomUUID(), expiresAt: Date.now() + 3_600_000, owner: 'person-1', name: null };
  await store.decide(
    machine,
    { stream: machineStream(machineId) },
    admit({ machineId, keyHash, identifierHash: machineId, token }),
    { actor },
  );
  for (let sequence = 1; sequence <= checks; sequence += 1) {
    const said = check({ keyHash, sequence, checkId: randomUUID(), name: `lab-${sequence}` });
    await store.decide(machine, { claim: credentialKey(keyHash) }, said, { actor, commandId: null });
  }
};

const caughtUp = () =>
  eventually('the read models are where the record is', async () =>
    (await new ReadModelQueries(database, store).status()).every(
      ({ lagBatches, rebuilding }) => lagBatches === '0' && !rebuilding,
    ),
  );

const isTheFold = async () => {
  const folded = new MemoryReadModels();
  folded.apply(await store.readBatches(0n, 100_000));
  expect(await dumpTables(database)).toBe(folded.dump());
};

it('relays what is recorded, applies what arrives, and says that it does (U2)', async () => {
  const projector = await start(config(), silent);
  try {
    await becomes(projector, 'ready');
    await live(20);
    await caughtUp();
    expect(await health(projector)).toMatchObject({
      code: 200,
      feed: { connected: true, problem: null, relay: 'relaying', lag: '0' },
    });
  } finally {
    await projector.close();
  }
  await isTheFold();
});

it('measures how far relay and read models are, and shows no old numbers while the database is away', async () => {
  const { hostname, port } = new URL(fresh.url);
  await using link = await TcpProxy.listen({ host: hostname, port: Number(port) });
  const settings = { ROLLCALL_DATABASE_URL: link.through(fresh.url), ROLLCALL_METRICS_PORT: '0' };
  const projector = await start(config(settings), silent);
  const scrape = async () => (await fetch(projector.metricsUrl ?? '')).text();
  const value = async (sample: string) =>
    (await scrape())
      .split('\n')
      .find((line) => line.startsWith(`${sample} `))
      ?.slice(sample.length + 1);
  try {
    await becomes(projector, 'ready');
    await live(5);
    await caughtUp();
    const head = String((await store.newest()).number);
    await eventually('all is published', async () => (await value('rollcall_relay_lag_batches')) === '0');
    for (const [sample, expected] of [
      ['rollcall_record_reachable', '1'],
      ['rollcall_record_newest_batch', head],
      ['rollcall_read_model_checkpoint_batch{read_model="presence"}', head],
      ['rollcall_read_model_behind_batches{read_model="history"}', '0'],
      ['rollcall_read_model_behind_seconds{read_model="readiness"}', '0'],
      ['rollcall_read_model_parked_facts{read_model="presence"}', '0'],
      ['rollcall_read_model_leading{read_model="presence"}', '1'],
      ['rollcall_machines{presence="absent",lifecycle="stopped",can_take_work="false"}', '0'],
      ['rollcall_blocker_machines{code="other"}', '0'],
      ['rollcall_recent_silences{change="absence"}', '0'],
      ['rollcall_relay_leading', '1'],
      ['rollcall_feed_connected', '1'],
      ['rollcall_feed_problem', '0'],
    ] as const)
      expect([sample, await value(sample)]).toEqual([sample, expected]);
    expect(
      Number(await value('rollcall_machines{presence="present",lifecycle="running",can_take_work="true"}')),
    ).toBeGreaterThan(0);
    const heard = Number(await value('rollcall_machines_heard_timestamp_seconds'));
    expect(Math.abs(heard - (await store.newest()).recordedAt / 1_000)).toBeLessThan(10);
    expect(Number(await value('rollcall_relay_published_messages_total'))).toBeGreaterThan(0);
    link.delayAnswers(6_000);
    await eventually(
      'the database does not answer in time',
      async () => (await value('rollcall_record_reachable')) === '0',
      30_000,
    );
    expect(await value('rollcall_record_newest_batch')).toBe('NaN');
    expect(await value('rollcall_read_model_behind_seconds{read_model="presence"}')).toBe('NaN');
    expect(await value('rollcall_recent_silences{change="return"}')).toBe('NaN');
    link.delayAnswers(0);
    await eventually('it is back', async () => (await value('rollcall_record_reachable')) === '1', 30_000);
  } finally {
    await projector.close();
  }
});

it('is degraded and not down while NATS is away: what is recorded is shown, and all is well again by itself (U2, fault rows 11 and 12)', async () => {
  await nats.server.kill();
  const { logger, lines } = recordingLogger();
  const projector = await start(config(), logger);
  try {
    await becomes(projector, 'degraded');
    expect((await health(projector)).code).toBe(200);
    await live(10);
    await caughtUp();
    await nats.server.start();
    await becomes(projector, 'ready');
    await live(10);
    await caughtUp();
  } finally {
    await projector.close();
  }
  await isTheFold();
  expect(JSON.stringify(lines())).not.toContain((await nats.password('relay')).trim());
});

it('lets a second instance wait, and take over when the first one ends (U2, fault row 9)', async () => {
  const first = await start(config(), silent);
  let second: Projector | undefined;
  try {
    await becomes(first, 'ready');
    second = await start(config(), silent);
    const waiting = second;
    await eventually('the second waits', async () => {
      const text = JSON.stringify(await health(waiting));
      return !text.includes('following') && text.includes('"relay":"waiting"');
    });
    expect((await health(waiting)).code).toBe(200);
    await live(10);
    await first.close();
    await eventually('the second has taken over', async () => (await health(waiting)).feed?.relay === 'relaying');
    await live(10);
    await caughtUp();
  } finally {
    await first.close();
    await second?.close();
  }
  await isTheFold();
});

it('refuses a server whose streams are not as they must be, names the setting, and goes on without it (U2)', async () => {
  const projector = await start(
    { ...config(), feed: { ...config().feed!, sizes: { eventBytes: 17 * 1_048_576 } } },
    silent,
  );
  try {
    await eventually('it names the setting', async () => {
      const { status, feed } = await health(projector);
      return status === 'degraded' && /max_bytes of .*ROLLCALL/.test(JSON.stringify(feed));
    });
    await live(5);
    await caughtUp();
    expect((await health(projector)).code).toBe(200);
  } finally {
    await projector.close();
  }
  await isTheFold();
});
