import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedCluster } from '@rollcall/embedded-postgres';
import { LogBackedStore } from '@rollcall/event-store';
import { PostgresEventStore, PostgresLog } from '@rollcall/event-store-postgres';
import { credentialKey, machine, machineStream } from '@rollcall/machine';
import { migrate } from '@rollcall/migrations';
import { loadOrCreateAuthority, openTls } from '@rollcall/plane-ca';
import { hashOf, makeSecret } from '@rollcall/wire';
import { load, type LoadMachine } from './load.js';

const [root = '.', ...flags] = process.argv.slice(2);
const quick = flags.includes('--quick');
const seconds = quick ? 4 : 15;
const tell = (line: string): void => void process.stderr.write(`bench: ${line}\n`);
const DATABASE = 'rollcall';

/** What was begun, ended in reverse order. */
const begun: (() => Promise<unknown>)[] = [];

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  return typeof address === 'object' && address ? address.port : 0;
};

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
};

/** Starts a program of ours and waits for the line that says it serves. */
const serve = async (args: readonly string[], ready: RegExp, env: Record<string, string> = {}) => {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  begun.push(() => end(child));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code}:\n${output}`)));
    // Read on until the end, or the server would wait for us.
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < 65_536) output += text;
      if (ready.test(output)) resolve();
    });
  });
  return { child, match: ready.exec(output) };
};

/** Machines that were admitted, each with its credential. */
const admitted = async (store: LogBackedStore, count: number): Promise<readonly LoadMachine[]> =>
  Promise.all(
    Array.from({ length: count }, async (): Promise<LoadMachine> => {
      const [machineId, credential] = [randomUUID(), makeSecret('rcm')];
      await store.decide(
        machine,
        { stream: machineStream(machineId) },
        {
          type: 'AdmitMachine',
          machineId,
          nodeId: randomUUID(),
          token: { id: randomUUID(), expiresAt: Date.now() + 3_600_000, owner: 'bench', name: null },
          identifierHash: hashOf(machineId),
          keyHash: hashOf(credential),
          report: { hostname: null, agentVersion: null, platform: null, arch: null },
        },
        { actor: { kind: 'person', id: 'bench' } },
      );
      return { credential, boot: { counter: 1, id: randomBytes(4).toString('hex') }, sequence: 0, chain: null };
    }),
  );

/** The way not taken: ten connections, and a transaction per check. */
const oneCommitPerCheck = async (connectionString: string, machines: readonly LoadMachine[]): Promise<number> => {
  const stores = Array.from(
    { length: 10 },
    () => new LogBackedStore(new PostgresLog({ connectionString, readers: 1 }), { batchLimit: 1 }),
  );
  const until = performance.now() + seconds * 1_000;
  const from = performance.now();
  let checks = 0;
  await Promise.all(
    stores.map(async (store, index) => {
      const own = machines[index] as LoadMachine;
      const keyHash = hashOf(own.credential);
      while (performance.now() < until) {
        own.sequence += 1;
        await store.decide(
          machine,
          { claim: credentialKey(keyHash) },
          {
            type: 'AcceptCheck',
            keyHash,
            boot: own.boot,
            sequence: own.sequence,
            checkId: randomUUID(),
            said: 'running',
            reason: null,
            blockers: [],
            notProbed: [],
            name: null,
            report: {},
            chain: null,
            policy: { interval: 30, windowFloor: 120 },
          },
          { actor: { kind: 'machine', id: 'bench' }, commandId: null },
        );
        checks += 1;
      }
    }),
  );
  const perSecond = checks / ((performance.now() - from) / 1_000);
  await Promise.all(stores.map((store) => store.close()));
  return perSecond;
};

const bench = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-bench-'));
  begun.push(() => rm(directory, { recursive: true, force: true }));
  tell('PostgreSQL starts (durable: fsync and synchronous_commit are on)');
  const cluster = await EmbeddedCluster.open({
    directory: join(directory, 'postgres'),
    port: await freePort(),
    settings: { max_wal_size: '2GB' },
  });
  begun.push(() => cluster.stop());
  await cluster.ensureDatabase(DATABASE);
  const migrations = join(root, 'infra/migrations');
  await migrate({ connectionString: cluster.url(DATABASE), directory: migrations });
  const databaseUrl = await cluster.loginAs('rollcall_app', DATABASE);
  const number = async (statement: string) =>
    Number((await cluster.query(`select (${statement}) as n`, DATABASE)).rows[0]?.n);

  const ca = join(directory, 'ca');
  const chainKey = join(directory, 'chain.key');
  await writeFile(chainKey, randomBytes(32).toString('base64url'), { mode: 0o600 });
  const tls = await openTls({ directory: ca, name: 'machine-api', hosts: ['localhost', '127.0.0.1'] });
  const authority = (await loadOrCreateAuthority(ca)).certificatePem;
  const files = { certificate: join(directory, 'server.pem'), key: join(directory, 'server.key') };
  await writeFile(files.certificate, tls.material.certificatePem);
  await writeFile(files.key, tls.material.keyPem, { mode: 0o600 });

  const store = await PostgresEventStore.connect({ connectionString: databaseUrl });
  const machines = await admitted(store, 256 + 10);
  await store.close();
  const fleet = machines.slice(0, 256);
  const updatesOfHeads = async () => {
    // Sessions hand in their counters when they end, a moment later.
    await new Promise((resume) => setTimeout(resume, 500));
    const of = (counter: string) => number(`select ${counter} from pg_stat_user_tables where relname = 'stream_head'`);
    return { hot: await of('n_tup_hot_upd'), all: await of('n_tup_upd') };
  };
  const updatesBefore = await updatesOfHeads();

  tell(`bare Fastify echo over TLS, 256 connections, ${seconds} s`);
  const echo = await serve(
    [join(root, 'node_modules/.cache/rollcall/bench/echo-server.mjs'), files.certificate, files.key],
    /port (\d+)/,
  );
  const echoed = (count: number, duration: number) =>
    load({
      port: Number(echo.match?.[1]),
      ca: authority,
      seconds: duration,
      machines: fleet.slice(0, count).map((one) => ({ ...one })),
    });
  await echoed(64, 1);
  const bare = await echoed(256, seconds);
  await end(echo.child);

  const port = await freePort();
  const api = await serve([join(root, 'dist/apps/machine-api/main.js')], /machines can check in/, {
    NODE_ENV: 'production',
    ROLLCALL_DATABASE_URL: databaseUrl,
    ROLLCALL_MIGRATIONS_DIR: migrations,
    ROLLCALL_MACHINE_API_PORT: String(port),
    ROLLCALL_CA_DIR: ca,
    ROLLCALL_CHAIN_KEY_FILE: chainKey,
  });
  const checks = (count: number, duration: number) =>
    load({ port, ca: authority, seconds: duration, machines: fleet.slice(0, count) });
  await checks(256, 1);
  tell(`durable checks through the machine API, 64 and 256 connections, ${seconds} s each`);
  const checks64 = await checks(64, seconds);
  const checks256 = await checks(256, seconds);
  await end(api.child);
  const checksPerBatch = await number('select avg(checks) from batch where checks > 0');

  tell(`one commit per check on ten connections, without HTTP, ${seconds} s`);
  const single = await oneCommitPerCheck(databaseUrl, machines.slice(256));

  const updates = await updatesOfHeads();
  const recorded = await number('select count(*) from check_in');
  const bytes = await number(`select sum(pg_table_size(inhrelid) + pg_indexes_size(inhrelid)) from pg_inherits
    where inhparent = 'check_in'::regclass and exists (select from pg_stat_user_tables where relid = inhrelid and n_tup_ins > 0)`);
  const hotShare = (updates.hot - updatesBefore.hot) / (updates.all - updatesBefore.all);
  return {
    bare,
    checks64,
    checks256,
    single,
    recorded,
    bytesPerCheckIn: bytes / recorded,
    hotShare,
    checksPerBatch,
  };
};

const round = (value: number, digits = 0): number => Number(value.toFixed(digits));

try {
  const { bare, checks64, checks256, single, recorded, bytesPerCheckIn, hotShare, checksPerBatch } = await bench();
  const result = {
    echoPerSecond: round(bare.perSecond),
    checksPerSecond: round(checks256.perSecond),
    checksPerSecond64: round(checks64.perSecond),
    /** Durable checks per bare echo, both over TLS with 256 connections. */
    ratio: round(checks256.perSecond / bare.perSecond, 3),
    oneCommitPerSecond: round(single),
    bytesPerCheckIn: round(bytesPerCheckIn, 1),
    hotShare: round(hotShare, 4),
    p50: { echo: round(bare.p50, 1), checks: round(checks256.p50, 1), checks64: round(checks64.p50, 1) },
    p99: { echo: round(bare.p99, 1), checks: round(checks256.p99, 1), checks64: round(checks64.p99, 1) },
    checksRecorded: recorded,
    checksPerBatch: round(checksPerBatch, 1),
    cores: cpus().length,
    seconds,
  };
  if (flags.includes('--json')) process.stdout.write(`${JSON.stringify(result)}\n`);
  else {
    const lines: [string, string][] = [
      [
        'bare echo, 256 connections',
        `${result.echoPerSecond}/s   p50 ${result.p50.echo} ms  p99 ${result.p99.echo} ms`,
      ],
      [
        'durable checks, 256 connections',
        `${result.checksPerSecond}/s   p50 ${result.p50.checks} ms  p99 ${result.p99.checks} ms`,
      ],
      [
        'durable checks, 64 connections',
        `${result.checksPerSecond64}/s   p50 ${result.p50.checks64} ms  p99 ${result.p99.checks64} ms`,
      ],
      ['durable checks per bare echo', String(result.ratio)],
      ['one commit per check, no HTTP', `${result.oneCommitPerSecond}/s`],
      ['bytes per check-in, with indexes', String(result.bytesPerCheckIn)],
      ['head updates that touched no index', `${round(result.hotShare * 100, 1)} %`],
      ['checks recorded', `${result.checksRecorded}; through the API ${result.checksPerBatch} per commit`],
    ];
    for (const [what, value] of lines) process.stdout.write(`${what.padEnd(36)} ${value}\n`);
    process.stdout.write(`The load, the server and PostgreSQL shared ${result.cores} cores.\n`);
  }
} finally {
  for (const undo of begun.toReversed()) await undo().catch((error: unknown) => tell(String(error)));
}
