import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { NatsFeed } from '@rollcall/feed-nats';
import type { FeedSettings, Logger } from '@rollcall/nest-platform';
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
  const feed = config.feed === null ? null : await connectFeed(config.feed, logger);
  try {
    const connectionString = config.database.url;
    const store = await PostgresEventStore.connect({
      connectionString,
      applicationName: 'rollcall projector',
      onTrouble: (error) => logger.warn({ err: error }, 'trouble with the record'),
    });
    const database = openReadModels({
      connectionString,
      // A loop uses one at a time.
      connections: READ_MODELS.length,
      onIdleError: (error) => logger.warn({ err: error }, 'a connection of the read models broke'),
    });
    return new Connections(store, database, new PostgresRelayCursor({ connectionString }), feed);
  } catch (error) {
    await feed?.close();
    throw error;
  }
};

const MIB = 1_048_576;

const connectFeed = (settings: FeedSettings, logger: Logger): Promise<NatsFeed> => {
  const { servers, relayCredentials, readerCredentials, caFile, replicas, eventsMib, batchesMib } = settings;
  return NatsFeed.connect({
    servers,
    ...(relayCredentials !== null && readerCredentials !== null
      ? { credentials: { relay: relayCredentials, reader: readerCredentials } }
      : {}),
    ...(caFile === null ? {} : { caFile }),
    sizes: { replicas, eventBytes: eventsMib * MIB, batchBytes: batchesMib * MIB },
    tell: (sentence) => logger.info({}, sentence),
  });
};
