import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { LogBackedStore } from '@rollcall/event-store';
import { machine, machineStream } from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';
import { AbsenceWatch, openReadModels } from '@rollcall/read-models';
import { webhookEndpoint, webhookStream } from '@rollcall/webhook-endpoint';
import { ensureWebhookKey, openWebhooks, readWebhookKey, WebhookSecrets } from '@rollcall/webhooks';
import { sql } from 'kysely';
import { at } from './load.js';
import type { BenchPlane } from './plane.js';
import type { Begun } from './servers.js';

/** What silence costs, and how soon it is told; milliseconds. */
export type SilenceCosts = {
  /** A sweep over so many machines of which none is due; the median. */
  readonly sweepMs: { readonly of10000: number; readonly of1000000: number };
  /** From when a window was over to the event, sorted. */
  readonly absence: readonly number[];
  /** From the event's time to its notice at the receiver, sorted. */
  readonly webhook: readonly number[];
};

const SILENT = 300;
const NOTICES = 300;
const PACE_MS = 10;
/** Seconds; as short as a bench can wait for. */
const POLICY = { interval: 1, windowFloor: 3 };
const SWEEPS = 200;
const PATIENCE_MS = 60_000;

/** Starts a projector that delivers webhooks to a receiver here, lets machines join and fall silent, and looks at the times. */
export const measureSilence = async (plane: BenchPlane, begun: Begun): Promise<SilenceCosts> => {
  const arrivals = new Map<string, number>();
  const receiver = createServer((request, answer) => {
    const id = request.headers['webhook-id'];
    if (typeof id === 'string' && !arrivals.has(id)) arrivals.set(id, Date.now());
    request.resume().on('end', () => answer.writeHead(204).end());
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  begun.add(() => Promise.resolve(receiver.close()));
  const { port } = receiver.address() as AddressInfo;
  const keyFile = join(plane.directory, 'webhook.key');
  await ensureWebhookKey(keyFile);
  const ears = await plane.machineApi({ tls: false });
  const projector = await plane.projector({
    ROLLCALL_WEBHOOK_KEY_FILE: keyFile,
    ROLLCALL_WEBHOOK_ALLOW: `127.0.0.1:${port}`,
  });
  try {
    return await plane.withStore(async (store) => {
      const endpoint = await addEndpoint(plane, store, { keyFile, url: `http://127.0.0.1:${port}/` });
      await letJoin(store, 'told', NOTICES, false);
      await letJoin(store, 'silent', SILENT, true);
      await until(plane, SILENT, `select count(*) from event where type = 'WentAbsent'`);
      await until(
        plane,
        NOTICES,
        `select count(*) from webhook_delivery where endpoint = '${endpoint}' and state = 'delivered'`,
      );
      const database = openReadModels({ connectionString: plane.databaseUrl, connections: 1 });
      try {
        const lags = await sql<{ lag: number }>`
          select extract(epoch from b.recorded_at - (e.body::jsonb ->> 'dueAt')::timestamptz)::float8 * 1000 as lag
          from event e join batch b on b.number = e.batch where e.type = 'WentAbsent'`.execute(database);
        const told = await sql<{ event_id: string; at: Date }>`
          select event_id, occurred_at as at from webhook_delivery where endpoint = ${endpoint}::uuid`.execute(
          database,
        );
        await projector.stop();
        return {
          sweepMs: {
            of10000: await sweepOver(database, store, 10_000),
            of1000000: await sweepOver(database, store, 1_000_000),
          },
          absence: lags.rows.map(({ lag }) => lag).sort((a, b) => a - b),
          webhook: told.rows.map((row) => (arrivals.get(row.event_id) ?? NaN) - row.at.getTime()).sort((a, b) => a - b),
        };
      } finally {
        await database.destroy();
      }
    });
  } finally {
    await projector.stop();
    await ears.stop();
  }
};

const addEndpoint = async (
  { databaseUrl }: BenchPlane,
  store: LogBackedStore,
  { keyFile, url }: { readonly keyFile: string; readonly url: string },
): Promise<string> => {
  const endpoint = randomUUID();
  const database = openWebhooks({ connectionString: databaseUrl, applicationName: 'bench' });
  try {
    await new WebhookSecrets(await readWebhookKey(keyFile)).create(database, endpoint, url);
  } finally {
    await database.destroy();
  }
  await store.decide(
    webhookEndpoint,
    { stream: webhookStream(endpoint) },
    {
      type: 'AddWebhookEndpoint',
      owner: 'told',
      host: new URL(url).host,
      events: ['machine.admitted'],
      promisedOnly: false,
    },
    { actor: { kind: 'person', id: 'told' } },
  );
  return endpoint;
};

/** Machines join one after the other, and check in once where they are to be missed. */
const letJoin = async (store: LogBackedStore, owner: string, count: number, checks: boolean): Promise<void> => {
  for (let n = 0; n < count; n += 1) {
    const machineId = randomUUID();
    const keyHash = machineId.replaceAll('-', '').padStart(64, '0');
    const target = { stream: machineStream(machineId) };
    const actor = { kind: 'person', id: machineId } as const;
    const token = { id: machineId, expiresAt: Date.now() + 3_600_000, owner, name: null };
    await store.decide(machine, target, admit({ machineId, keyHash, identifierHash: machineId, token }), { actor });
    if (checks)
      await store.decide(machine, target, check({ keyHash, checkId: randomUUID(), policy: POLICY }), { actor });
    await new Promise((resume) => setTimeout(resume, PACE_MS));
  }
};

const until = async (plane: BenchPlane, count: number, statement: string): Promise<void> => {
  for (const end = performance.now() + PATIENCE_MS; (await plane.number(statement)) < count;) {
    if (performance.now() > end) throw new Error(`Not ${count} within ${PATIENCE_MS} ms: ${statement}`);
    await new Promise((resume) => setTimeout(resume, 100));
  }
};

const sweepOver = async (
  database: ReturnType<typeof openReadModels>,
  store: LogBackedStore,
  machines: number,
): Promise<number> => {
  await sql`truncate absence_due`.execute(database);
  await sql`insert into absence_due select lpad(n::text, 7, '0'), clock_timestamp() + interval '1 day' + n * interval '1 millisecond'
    from generate_series(1, ${machines}::integer) n`.execute(database);
  const log = { info: () => undefined, warn: () => undefined };
  const watch = new AbsenceWatch({ database, store, log });
  const times: number[] = [];
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const begun = performance.now();
    await watch.sweep();
    times.push(performance.now() - begun);
  }
  await sql`truncate absence_due`.execute(database);
  return at(
    times.sort((a, b) => a - b),
    0.5,
  );
};
