import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedNats, findNatsServer } from '@rollcall/embedded-nats';
import { EmbeddedCluster } from '@rollcall/embedded-postgres';
import type { LogBackedStore } from '@rollcall/event-store';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { machine, machineStream } from '@rollcall/machine';
import { migrate } from '@rollcall/migrations';
import { loadOrCreateAuthority, openTls } from '@rollcall/plane-ca';
import { hashOf, makeSecret } from '@rollcall/wire';
import type { LoadMachine, Target } from './load.js';
import { freePort, type Begun, type Served } from './servers.js';

const DATABASE = 'rollcall';

/** The parts of a plane, started when a measurement wants them. */
export type BenchPlane = {
  readonly databaseUrl: string;
  /** The process that all of PostgreSQL are children of. */
  readonly postgresPid: number;
  /** Answers one number. */
  number(statement: string): Promise<number>;
  readonly certificate: { readonly certificateFile: string; readonly keyFile: string; readonly ca: string };
  /** The record, opened for as long as the work takes. */
  withStore<Result>(work: (store: LogBackedStore) => Promise<Result>): Promise<Result>;
  /** What an agent has to know to be installed here. */
  installation(target: Target): {
    readonly directory: string;
    readonly address: string;
    readonly pins: readonly string[];
  };
  admit(count: number): Promise<readonly LoadMachine[]>;
  machineApi(how: { readonly tls: boolean }): Promise<Served & { readonly target: Target }>;
  projector(settings?: Readonly<Record<string, string>>): Promise<Served>;
  /** Gone when the bench is over. */
  readonly directory: string;
  /** What distributes batches to the read models. */
  readonly feed: 'nats' | 'record';
};

/** Makes a durable cluster, a nats-server where one is installed, keys and certificates. */
export const openBenchPlane = async (root: string, begun: Begun): Promise<BenchPlane> => {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-bench-'));
  begun.add(() => rm(directory, { recursive: true, force: true }));
  const cluster = await EmbeddedCluster.open({
    directory: join(directory, 'postgres'),
    port: await freePort(),
    settings: { max_wal_size: '2GB' },
  });
  begun.add(() => cluster.stop());
  await cluster.ensureDatabase(DATABASE);
  const migrations = join(root, 'infra/migrations');
  await migrate({ connectionString: cluster.url(DATABASE), directory: migrations });
  const databaseUrl = await cluster.loginAs('rollcall_app', DATABASE);
  const postgresPid = Number((await readFile(join(directory, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);

  const program = await findNatsServer(process.env);
  const nats =
    program && (await EmbeddedNats.open({ directory: join(directory, 'nats'), port: await freePort(), program }));
  if (nats) begun.add(() => nats.stop());
  const feed: Record<string, string> = nats
    ? {
        ROLLCALL_NATS_URL: nats.url,
        ROLLCALL_NATS_RELAY_CREDENTIALS_FILE: nats.credentialsFile('rollcall'),
        ROLLCALL_NATS_READER_CREDENTIALS_FILE: nats.credentialsFile('rollcall'),
      }
    : {};

  const ca = join(directory, 'ca');
  const chainKey = join(directory, 'chain.key');
  await writeFile(chainKey, randomBytes(32).toString('base64url'), { mode: 0o600 });
  const { material } = await openTls({ directory: ca, name: 'machine-api', hosts: ['localhost', '127.0.0.1'] });
  const { certificatePem: authority, pin } = await loadOrCreateAuthority(ca);
  const certificate = {
    certificateFile: join(directory, 'server.pem'),
    keyFile: join(directory, 'server.key'),
    ca: authority,
  };
  await writeFile(certificate.certificateFile, material.certificatePem);
  await writeFile(certificate.keyFile, material.keyPem, { mode: 0o600 });
  const environment = { ROLLCALL_DATABASE_URL: databaseUrl, ROLLCALL_MIGRATIONS_DIR: migrations };

  const withStore: BenchPlane['withStore'] = async (work) => {
    const store = await PostgresEventStore.connect({ connectionString: databaseUrl });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };

  return {
    databaseUrl,
    withStore,
    installation: ({ port }) => ({ directory, address: `https://127.0.0.1:${port}`, pins: [pin] }),
    postgresPid,
    feed: nats ? 'nats' : 'record',
    certificate,
    number: async (statement) => Number((await cluster.query(`select (${statement}) as n`, DATABASE)).rows[0]?.n),
    admit: (count) => withStore((store) => admitted(store, count)),
    machineApi: async ({ tls }) => {
      const port = await freePort();
      const served = await begun.serve([join(root, 'dist/apps/machine-api/main.js')], /machines can check in/, {
        ...environment,
        ROLLCALL_MACHINE_API_PORT: String(port),
        ROLLCALL_CHAIN_KEY_FILE: chainKey,
        ...(tls ? { ROLLCALL_CA_DIR: ca } : { ROLLCALL_TLS: 'off' }),
      });
      return { ...served, target: { port, ca: tls ? authority : null } };
    },
    directory,
    projector: async (settings = {}) =>
      begun.serve([join(root, 'dist/apps/projector/main.js')], /the projector follows/, {
        ...environment,
        ...feed,
        ...settings,
        ROLLCALL_PROJECTOR_PORT: String(await freePort()),
      }),
  };
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
