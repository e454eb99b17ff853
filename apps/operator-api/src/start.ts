import { PostgresAttempts } from '@rollcall/attempts';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
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
import { openReadModels } from '@rollcall/read-models';
import { measureAppends, measureRequests, type Metrics, type Traces } from '@rollcall/telemetry';
import { openWebhooks, readWebhookKey, SystemResolver, WebhookSecrets } from '@rollcall/webhooks';
import { IdentityProvider } from './account/identity-provider.js';
import type { OperatorApiConfig } from './config.js';
import { MachineApiLocation } from './enrolment/machine-api-location.js';
import { PageFiles } from './page/page-files.js';
import { OperatorApiModule } from './operator-api.module.js';
import { WebhookAccess } from './webhook/webhook-access.js';

/** A running operator API. */
export type OperatorApi = {
  /** An origin under which this host reaches it. */
  readonly url: string;
  readonly port: number;
  /** Pins of the CA key behind its certificate; empty for certificate files. */
  readonly pins: readonly string[];
  /** Where its metrics are; null where it shows none. */
  readonly metricsUrl: string | null;
  /** Looks for a newer certificate. */
  reload(): Promise<void>;
  /** Lets running requests finish, then ends its connections. */
  close(): Promise<void>;
};

const APP_NAME = 'operator-api';

/**
 * Starts the operator API in this process.
 *
 * @param logger (Default: JSON lines on standard output)
 * @throws Error when the database is away or lacks migrations, when the port is taken, or when there is no usable certificate.
 */
export const start = async (
  config: OperatorApiConfig,
  logger: Logger = createLogger({ name: APP_NAME, level: config.logLevel }),
): Promise<OperatorApi> => {
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
  config: OperatorApiConfig,
  { logger, metrics, traces }: { logger: Logger; metrics: Metrics; traces: Traces },
): Promise<OperatorApi> => {
  const tls = await openTls(config.tls);
  const appends = measureAppends(metrics.meter);
  const store = await PostgresEventStore.connect({
    connectionString: config.database.url,
    applicationName: 'rollcall operator-api',
    onTrouble: (error) => logger.warn({ err: error }, 'a decision is tried again'),
    onAppend: appends.onAppend,
    ...traces.appends,
  });
  appends.watch(store);
  const readModels = openReadModels({
    connectionString: config.database.url,
    onIdleError: (error) => logger.warn({ err: error }, 'a connection to the read models broke'),
  });
  const tails = new PostgresLogTails({
    connectionString: config.database.url,
    applicationName: 'rollcall operator-api log tails',
    onIdleError: (error) => logger.warn({ err: error }, 'a connection to the log tails broke'),
  });
  const attempts = new PostgresAttempts({
    connectionString: config.database.url,
    applicationName: 'rollcall operator-api attempts',
    onIdleError: (error) => logger.warn({ err: error }, 'a connection to the attempts broke'),
  });
  const webhooks = openWebhooks({
    connectionString: config.database.url,
    applicationName: 'rollcall operator-api webhooks',
    onIdleError: (error) => logger.warn({ err: error }, 'a connection to the webhooks broke'),
  });
  const end = async (): Promise<void> => {
    await Promise.all([store.close(), readModels.destroy(), tails.close(), attempts.close(), webhooks.destroy()]);
  };
  try {
    await tails.forgetDeleted();
    const machineApi = new MachineApiLocation(config.machineApi.address, config.machineApi.pins ?? tls.pins);
    const secrets = new WebhookSecrets(await readWebhookKey(config.webhooks.keyFile));
    if (secrets.problem !== null) logger.warn({}, secrets.problem);
    const targets = { resolver: new SystemResolver(), allowed: config.webhooks.allowed };
    const { url, port, reloadCertificate, close } = await startHttpsApp({
      module: OperatorApiModule.on({
        store,
        readModels,
        tails,
        attempts,
        machineApi,
        freshSeconds: config.freshSeconds,
        idleSeconds: config.idleSeconds,
        gapSeconds: config.gapSeconds,
        // So that at least two thirds of the time are left in which a session is fresh.
        provider: new IdentityProvider(config.provider, Math.floor(config.freshSeconds / 3)),
        webhooks: new WebhookAccess(webhooks, secrets, targets),
        page: await PageFiles.in(config.pageDirectory),
        readiness: recordReadiness(store, config.database),
      }),
      logger,
      answered: measureRequests(metrics.meter),
      traces,
      tls,
      httpsOnlySeconds: config.httpsOnlySeconds,
      // People's tools are not all of today.
      minTls: 'TLSv1.2',
      host: config.host,
      port: config.port,
      portVariable: 'ROLLCALL_OPERATOR_API_PORT',
    });
    logger.info({ url }, 'the operator API answers');
    return {
      url,
      port,
      pins: tls.pins,
      metricsUrl: metrics.url,
      reload: reloadCertificate,
      close: async () => {
        try {
          await close();
        } finally {
          await end();
          await Promise.all([metrics.close(), traces.close()]);
        }
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
};
