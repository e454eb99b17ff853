import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { SystemClock, withDeadline } from '@rollcall/lifetimes';
import { pendingMigrations } from '@rollcall/migrations';
import { createLogger, type Logger } from '@rollcall/nest-platform';
import { ProjectorModule } from './app.module.js';
import type { ProjectorConfig } from './config.js';

/** A running projector. */
export type Projector = {
  /** Where its health is told: `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Ends the loops, each after its last transaction, then the connections. Fails when that takes more than ten seconds. */
  close(): Promise<void>;
};

const DRAIN_MS = 10_000;

/**
 * Starts the projector in this process.
 *
 * @param logger (Default: JSON lines on standard output)
 * @throws Error when the database is away or lacks migrations, or when the port is taken
 */
export const start = async (
  config: ProjectorConfig,
  logger: Logger = createLogger({ name: 'projector', level: config.logLevel }),
): Promise<Projector> => {
  const pending = await pendingMigrations({ connectionString: config.databaseUrl, directory: config.migrations });
  if (pending.length > 0) throw new Error(`The database has not run these migrations: ${pending.join(', ')}`);

  const app = await NestFactory.create<NestFastifyApplication>(
    ProjectorModule.register(config, logger),
    new FastifyAdapter(),
    { logger: false, abortOnError: false },
  );
  try {
    await app.listen(config.port, '127.0.0.1');
  } catch (error) {
    await app.close();
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
      throw new Error(`Port ${config.port} is taken. Choose another with ROLLCALL_PROJECTOR_PORT.`, { cause: error });
    }
    throw error;
  }
  const url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  logger.info({ url }, 'the projector follows the record');
  return {
    url,
    close: () => withDeadline(new SystemClock(), DRAIN_MS, () => app.close()),
  };
};
