import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { NatsPortTaken, type EmbeddedNats } from '@rollcall/embedded-nats';
import { EmbeddedCluster, PortTaken, refuseTakenPort } from '@rollcall/embedded-postgres';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { ensureChainKey, readMachineApiConfig, start as startMachineApi } from '@rollcall/machine-api';
import { migrate } from '@rollcall/migrations';
import { createLogger, type Logger } from '@rollcall/nest-platform';
import { readOperatorApiConfig, start as startOperatorApi } from '@rollcall/operator-api';
import { SESSION_LIFE_SECONDS } from '@rollcall/person';
import { readProjectorConfig, start as startProjector } from '@rollcall/projector';
import { ensureWebhookKey } from '@rollcall/webhooks';
import { pino } from 'pino';
import type { DataDirectory } from './data-directory.js';
import { natsEnvironment, openNats } from './nats.js';
import type { StandaloneOptions } from './options.js';

/** A running plane in this process, on its own PostgreSQL. */
export type Plane = {
  readonly store: PostgresEventStore;
  readonly databaseUrl: string;
  readonly machineApi: { readonly url: string; readonly pins: readonly string[] };
  readonly operatorApi: { readonly url: string; readonly pins: readonly string[] };
  readonly projector: { readonly url: string };
  /** Where the metrics of the services are; none without `--metrics`. */
  readonly metricsUrls: readonly string[];
  /** Where subscribers find its NATS; null where none runs. */
  readonly nats: { readonly url: string; readonly credentialsFile: string } | null;
};

type Closable = { close(): Promise<void> };

/** What was opened, to be closed in reverse order, whatever happens. */
export class OpenedInOrder {
  private readonly opened: (() => Promise<void>)[] = [];

  add<Thing extends Closable>(thing: Thing): Thing {
    this.opened.push(() => thing.close());
    return thing;
  }

  /** Closes everything, the newest first. One that fails does not keep the others open. */
  async close(): Promise<void> {
    for (const close of this.opened.splice(0).toReversed()) await close().catch(() => undefined);
  }
}

const DATABASE = 'rollcall';

/**
 * Starts the parts in order: PostgreSQL, migrations, NATS where there is one, projector, operator API, machine API.
 *
 * @param tell one line per step, for whoever waits.
 * @param signal ends the start between two steps; what is open by then is in `opened`.
 * @throws Error that names the port that is taken and the option that chooses another.
 */
export const openPlane = async (
  directory: DataDirectory,
  options: StandaloneOptions,
  {
    migrations,
    opened,
    tell,
    signal,
  }: {
    readonly migrations: string;
    readonly opened: OpenedInOrder;
    readonly tell: (line: string) => void;
    readonly signal?: AbortSignal;
  },
): Promise<Plane> => {
  // Before anything is made: nobody waits for a database to hear about a port.
  await choosing('--machine-port', () => refuseTakenPort(options.machinePort));
  await choosing('--operator-port', () => refuseTakenPort(options.operatorPort));
  await choosing('--projector-port', () => refuseTakenPort(options.projectorPort));
  await mkdir(directory.logs, { recursive: true, mode: 0o700 });
  tell(`PostgreSQL starts in ${directory.postgres}`);
  const cluster = await openCluster(directory, options);
  opened.add({ close: () => cluster.stop() });
  signal?.throwIfAborted();
  await cluster.ensureDatabase(DATABASE);
  const ran = await migrate({ connectionString: cluster.url(DATABASE), directory: migrations });
  if (ran.length > 0) tell(`Migrations: ${ran.join(', ')}`);
  const databaseUrl = await cluster.loginAs('rollcall_app', DATABASE);
  await ensureChainKey(directory.chainKey);
  await ensureWebhookKey(directory.webhookKey);
  signal?.throwIfAborted();

  const nats = await choosing('--nats-port', () => openNats(directory, options, tell));
  if (nats) opened.add({ close: () => nats.stop() });
  signal?.throwIfAborted();
  const environment = environmentOf(directory, options, { databaseUrl, migrations, nats });
  const log = (name: string): Logger =>
    createLogger({
      name,
      destination: pino.destination({ dest: join(directory.logs, 'plane.log'), mkdir: true, sync: true, append: true }),
    });
  const projector = opened.add(await startProjector(readProjectorConfig(environment), log('projector')));
  const store = opened.add(
    await PostgresEventStore.connect({
      connectionString: databaseUrl,
      applicationName: 'rollcall standalone',
      readers: 2,
    }),
  );
  signal?.throwIfAborted();
  const operatorApi = opened.add(await startOperatorApi(readOperatorApiConfig(environment), log('operator-api')));
  const machineApi = opened.add(
    await startMachineApi(readMachineApiConfig({ ...environment, ROLLCALL_OPERATOR_API_ADDRESS: operatorApi.url }), {
      logger: log('machine-api'),
    }),
  );
  const forSubscribers = nats && { url: nats.url, credentialsFile: nats.credentialsFile('subscriber') };
  const metricsUrls = [projector, operatorApi, machineApi].flatMap(({ metricsUrl }) => metricsUrl ?? []);
  return { store, databaseUrl, machineApi, operatorApi, projector, metricsUrls, nats: forSubscribers };
};

const openCluster = ({ postgres }: DataDirectory, { postgresPort }: StandaloneOptions): Promise<EmbeddedCluster> =>
  choosing('--postgres-port', () =>
    EmbeddedCluster.open({ directory: postgres, port: postgresPort, settings: { max_connections: '100' } }),
  );

/** Names the option that chooses another port where one is taken. */
const choosing = async <Result>(flag: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PortTaken || error instanceof NatsPortTaken)) throw error;
    throw new Error(`${error.message}. Choose another with ${flag}.`, { cause: error });
  }
};

/** The settings of the three apps, as an operator would set them. What is in the real environment stays, where it names nothing of ours. */
const environmentOf = (
  directory: DataDirectory,
  options: StandaloneOptions,
  {
    databaseUrl,
    migrations,
    nats,
  }: { readonly databaseUrl: string; readonly migrations: string; readonly nats: EmbeddedNats | null },
): Record<string, string> => ({
  ROLLCALL_DATABASE_URL: databaseUrl,
  ROLLCALL_MIGRATIONS_DIR: migrations,
  ROLLCALL_CA_DIR: directory.ca,
  ROLLCALL_CHAIN_KEY_FILE: directory.chainKey,
  ROLLCALL_WEBHOOK_KEY_FILE: directory.webhookKey,
  ROLLCALL_MACHINE_API_PORT: String(options.machinePort),
  ROLLCALL_MACHINE_API_ADDRESS: `https://127.0.0.1:${options.machinePort}`,
  ROLLCALL_OPERATOR_API_PORT: String(options.operatorPort),
  // Whoever starts it gets a link at each start, and holds all its files: to ask them to start it again for each token protects nothing.
  ROLLCALL_FRESH_SESSION_SECONDS: String(SESSION_LIFE_SECONDS),
  ROLLCALL_PROJECTOR_PORT: String(options.projectorPort),
  ...(options.metrics ? { ROLLCALL_METRICS_PORT: '0' } : {}),
  ...(options.traces === undefined ? {} : { ROLLCALL_TRACES_URL: options.traces, ROLLCALL_TRACES_SHARE: '1' }),
  ...(options.webhookAllow === undefined ? {} : { ROLLCALL_WEBHOOK_ALLOW: options.webhookAllow }),
  ...(nats === null ? {} : natsEnvironment(nats)),
  ...timing('ROLLCALL_INTERVAL_SECONDS', options.interval),
  ...timing('ROLLCALL_WINDOW_FLOOR_SECONDS', options.windowFloor),
  ...timing('ROLLCALL_GAP_SECONDS', options.gap),
  ...timing('ROLLCALL_MARK_SECONDS', options.mark),
  ...(options.windowFloor === undefined ? {} : { ROLLCALL_TEST_SHORT_WINDOWS: '1' }),
});

const timing = (name: string, value: number | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: String(value) };
