import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { NatsFeed } from '@rollcall/feed-nats';
import type { Logger } from '@rollcall/nest-platform';
import { openReadModels, READ_MODELS } from '@rollcall/read-models';
import { PostgresRelayCursor } from '@rollcall/relay';
import type { ProjectorConfig } from './config.js';
import { Connections } from './connections.js';

/**
 * Opens everything that the loops work with. NATS is not waited for.
 *
 * @throws Error when the database is away, or when a file with credentials cannot be read
 */
export const openConnections = async (config: ProjectorConfig, logger: Logger): Promise<Connections> => {
  // First, because it is the one that fails for what a person has written.
  const feed =
    config.feed && (await NatsFeed.connect({ ...config.feed, tell: (sentence) => logger.info({}, sentence) }));
  try {
    const connectionString = config.database.url;
    const store = await PostgresEventStore.connect({
      connectionString,
      applicationName: 'rollcall projector',
      onTrouble: (error) => logger.warn({ err: error }, 'trouble with the record'),
    });
    const database = openReadModels({
      connectionString,
      // A loop uses one at a time, and so do the absence watch and a scrape of the metrics.
      connections: READ_MODELS.length + 2,
      onIdleError: (error) => logger.warn({ err: error }, 'a connection of the read models broke'),
    });
    return new Connections(store, database, new PostgresRelayCursor({ connectionString }), feed);
  } catch (error) {
    await feed?.close();
    throw error;
  }
};
