import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { Lifetime, SystemClock } from '@rollcall/lifetimes';
import { PostgresLogTails } from '@rollcall/log-tails';
import {
  createLogger,
  openMetrics,
  openTraces,
  recordReadiness,
  requireMigrations,
  startHttpsApp,
  type Logger,
} from '@rollcall/nest-platform';
import { openTls } from '@rollcall/plane-ca';
import { openReadModels, SilenceClock } from '@rollcall/read-models';
import { measureAppends, measureRequests, type Metrics, type Traces } from '@rollcall/telemetry';
import { readChainKey } from './chain/chain-key.js';
import { ChainTokens } from './chain/chain-tokens.js';
import { APP_NAME, PORT_VARIABLE, type MachineApiConfig } from './config.js';
import { MachineApiModule } from './machine-api.module.js';
import { CheckCounts } from './machine/check-counts.js';
import { MachineTerms } from './machine/machine-terms.js';
import { keepOwnEars } from './record/own-ears.js';
import { RecordEpoch } from './record/record-epoch.js';

/** A running machine API. */
export type RunningMachineApi = {
  /** An origin under which this host reaches it. */
  readonly url: string;
  readonly port: number;
  /** What an enrolment token should say to expect there; empty for a public certificate. */
  readonly pins: readonly string[];
  /** Where its metrics are; null where it shows none. */
  readonly metricsUrl: string | null;
  /** Looks for a newer server certificate. */
  reload(): Promise<void>;
  /** Drains for at most 10 s, then ends everything that `start` began. */
  close(): Promise<void>;
};

/** What a caller that already has one of these hands over; it stays the caller's to close. */
export type MachineApiSurroundings = { readonly logger?: Logger };

/**
 * Starts the machine API: database, certificate, HTTPS, and the plane's own ears.
 *
 * @throws Error with one sentence for the operator: migrations that did not run, no chain key, a taken port.
 */
export const start = async (
  config: MachineApiConfig,
  surroundings: MachineApiSurroundings = {},
): Promise<RunningMachineApi> => {
  const logger = surroundings.logger ?? createLogger({ name: APP_NAME, level: config.logLevel });
  await requireMigrations(config.database);
  const metrics = await openMetrics(config.metrics, APP_NAME, logger);
  const traces = openTraces(config.traces, APP_NAME, logger);
  try {
    return await open(config, { logger, metrics, traces });
  } catch (error) {
    await Promise.all([metrics.close(), traces.close()]);
    throw error;
  }
};

const open = async (
  config: MachineApiConfig,
  { logger, metrics, traces }: { logger: Logger; metrics: Metrics; traces: Traces },
): Promise<RunningMachineApi> => {
  const tls = config.tls && (await openTls(config.tls));
  const chainKey = await readChainKey(config.chainKeyFile);
  const tokens = new ChainTokens(chainKey);
  const appends = measureAppends(metrics.meter);
  const store = await PostgresEventStore.connect({
    connectionString: config.database.url,
    applicationName: `rollcall ${APP_NAME}`,
    onTrouble: (error) => logger.warn({ err: error }, 'an append did not go well and is tried again'),
    onAppend: appends.onAppend,
    ...traces.appends,
  });
  appends.watch(store);
  const tails = new PostgresLogTails({
    connectionString: config.database.url,
    applicationName: `rollcall ${APP_NAME} uploads`,
    onIdleError: (error) => logger.warn({ err: error }, 'a connection for uploads broke'),
  });
  const readModels = openReadModels({
    connectionString: config.database.url,
    connections: 1,
    onIdleError: (error) => logger.warn({ err: error }, 'a connection to the read models broke'),
  });
  const silences = new SilenceClock(readModels);
  const end = async (): Promise<void> => {
    await Promise.all([store.close(), tails.close(), readModels.destroy()]);
  };
  try {
    return await serve(config, { logger, metrics, traces, tls, chainKey, tokens, store, tails, silences, end });
  } catch (error) {
    await end();
    throw error;
  }
};

type Opened = {
  logger: Logger;
  metrics: Metrics;
  traces: Traces;
  tls: Awaited<ReturnType<typeof openTls>> | null;
  chainKey: Buffer;
  tokens: ChainTokens;
  store: PostgresEventStore;
  tails: PostgresLogTails;
  silences: SilenceClock;
  /** Closes what was opened. */
  end(): Promise<void>;
};

/** A check is answered, or refused, long before. */
const STALLED_MS = 20_000;

const serve = async (
  config: MachineApiConfig,
  { logger, metrics, traces, tls, chainKey, tokens, store, tails, silences, end }: Opened,
): Promise<RunningMachineApi> => {
  const epoch = await RecordEpoch.of(store);
  // A proxy has a certificate of its own, which agents verify by their system's store.
  const pins = tls?.pins ?? [];
  const { recordedAt: since } = await store.newest();
  const terms = new MachineTerms(
    config.policy,
    pins,
    { ...config.rotation, since },
    config.operatorApi && `${config.operatorApi}/codes`,
  );
  const readiness = recordReadiness(store, config.database);
  const counts = new CheckCounts(metrics.meter);
  const measured = config.metrics && measureRequests(metrics.meter);
  const https = await startHttpsApp({
    module: MachineApiModule.over({ store, tails, epoch, tokens, terms, readiness, counts }),
    answered: (request) => {
      measured?.(request);
      counts.answered(request);
    },
    traces,
    tls,
    host: config.host,
    port: config.port,
    portVariable: PORT_VARIABLE,
    limits: { stalledTimeoutMs: STALLED_MS },
    // The one secret that all instances share already; both uses derive what they need from it.
    sessionKey: chainKey,
    logger,
  });
  const lifetime = new Lifetime();
  lifetime.run((signal) =>
    keepOwnEars({ store, silences, epoch, clock: new SystemClock(), logger, markMs: config.markMs }, signal),
  );
  logger.info({ url: https.url }, 'machines can check in');
  return {
    url: https.url,
    port: https.port,
    pins,
    metricsUrl: metrics.url,
    reload: () => https.reloadCertificate(),
    close: async () => {
      try {
        await https.close();
        await lifetime.end();
      } finally {
        await end();
        await Promise.all([metrics.close(), traces.close()]);
      }
    },
  };
};
