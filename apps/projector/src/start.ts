import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { SystemClock, withDeadline } from '@rollcall/lifetimes';
import { createLogger, listen, openMetrics, openTraces, requireMigrations, type Logger } from '@rollcall/nest-platform';
import type { Metrics, Traces } from '@rollcall/telemetry';
import { AbsenceWatching } from './absence-watching.js';
import { ProjectorModule, type Reached } from './app.module.js';
import { PORT_VARIABLE, type ProjectorConfig } from './config.js';
import { Connections } from './connections.js';
import { Delivering } from './delivering.js';
import { measureProjector } from './metrics.js';
import { Noticing } from './noticing.js';
import { Projections } from './projections.js';
import { Relaying } from './relaying.js';
import { WebhookConnections } from './webhook-connections.js';

/** A running projector. */
export type Projector = {
  /** Where its health is told: `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Where its metrics are; null where it shows none. */
  readonly metricsUrl: string | null;
  /** Ends the loops, each after its last transaction, then the connections. Fails when that takes more than ten seconds. */
  close(): Promise<void>;
};

const APP_NAME = 'projector';
const HOST = '127.0.0.1';
const DRAIN_MS = 10_000;

/**
 * Starts the projector in this process.
 *
 * @param logger (Default: JSON lines on standard output)
 * @param reached only for tests
 * @throws Error when the database is away or lacks migrations, or when the port is taken
 */
export const start = async (
  config: ProjectorConfig,
  logger: Logger = createLogger({ name: APP_NAME, level: config.logLevel }),
  reached?: Reached,
): Promise<Projector> => {
  await requireMigrations(config.database);
  const metrics = await openMetrics(config.metrics, APP_NAME, logger);
  const traces = openTraces(config.traces, APP_NAME, logger);
  try {
    return await follow(config, { logger, metrics, traces, reached });
  } catch (error) {
    await Promise.all([metrics.close(), traces.close()]);
    throw error;
  }
};

const follow = async (
  config: ProjectorConfig,
  {
    logger,
    metrics,
    traces,
    reached,
  }: { logger: Logger; metrics: Metrics; traces: Traces; reached: Reached | undefined },
): Promise<Projector> => {
  const app = await NestFactory.create<NestFastifyApplication>(
    ProjectorModule.register(config, { logger, meter: metrics.meter, traces, reached }),
    new FastifyAdapter(),
    { logger: false, abortOnError: false },
  );
  measureProjector(metrics.meter, {
    connections: app.get(Connections),
    projections: app.get(Projections),
    relaying: app.get(Relaying),
    webhooks: app.get(WebhookConnections),
    noticing: app.get(Noticing),
    delivering: app.get(Delivering),
    watching: app.get(AbsenceWatching),
  });
  const port = await listen(app, { host: HOST, port: config.port, portVariable: PORT_VARIABLE });
  const url = `http://${HOST}:${port}`;
  logger.info({ url }, 'the projector follows the record');
  return {
    url,
    metricsUrl: metrics.url,
    close: () =>
      withDeadline(new SystemClock(), DRAIN_MS, async () => {
        // First, because a scrape asks connections that end with the app.
        await metrics.close();
        await app.close();
        await traces.close();
      }),
  };
};
