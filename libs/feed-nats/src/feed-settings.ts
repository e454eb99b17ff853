import type { EnvironmentReader } from '@rollcall/settings';
import type { NatsFeedOptions } from './nats-feed.js';

/** The settings of a feed, as the options that they come to. */
export type NatsFeedSettings = Omit<NatsFeedOptions, 'tell'>;

const MIB = 1_048_576;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * `ROLLCALL_NATS_URL`; where it is not set there is no feed and the result is null: readers follow the record itself. With it
 * `ROLLCALL_NATS_RELAY_CREDENTIALS_FILE`, `ROLLCALL_NATS_READER_CREDENTIALS_FILE`, `ROLLCALL_NATS_CA_FILE`, `ROLLCALL_NATS_REPLICAS`
 * (Default: 1), and what the two streams may keep, `ROLLCALL_NATS_EVENTS_MIB` (Default: 2,048) and `ROLLCALL_NATS_BATCHES_MIB` (Default:
 * 1,024); and when what a reader took and did not acknowledge comes again, `ROLLCALL_NATS_ACKNOWLEDGE_SECONDS` (Default: 30). Beyond the loopback the connection is encrypted, unless `ROLLCALL_NATS_PLAIN=1` says that the network is the plane's own.
 */
export const readNatsFeed = (settings: EnvironmentReader): NatsFeedSettings | null => {
  const servers = settings.list('ROLLCALL_NATS_URL', []);
  const relayCredentials = settings.optionalText('ROLLCALL_NATS_RELAY_CREDENTIALS_FILE');
  const readerCredentials = settings.optionalText('ROLLCALL_NATS_READER_CREDENTIALS_FILE');
  const caFile = settings.optionalText('ROLLCALL_NATS_CA_FILE');
  const replicas = settings.integer('ROLLCALL_NATS_REPLICAS', { min: 1, max: 5, default: 1 });
  const eventsMib = settings.integer('ROLLCALL_NATS_EVENTS_MIB', { min: 1, max: 1_048_576, default: 2_048 });
  const batchesMib = settings.integer('ROLLCALL_NATS_BATCHES_MIB', { min: 1, max: 1_048_576, default: 1_024 });
  const acknowledgeSeconds = settings.integer('ROLLCALL_NATS_ACKNOWLEDGE_SECONDS', { min: 1, max: 3_600, default: 30 });
  const isPlainAllowed = settings.flag('ROLLCALL_NATS_PLAIN');
  if (servers.length === 0) return null;
  for (const server of servers) {
    const problem = problemOf(server, isPlainAllowed);
    if (problem !== null) settings.problem(`ROLLCALL_NATS_URL ${problem}`);
  }
  if ((relayCredentials === null) !== (readerCredentials === null))
    settings.problem(
      'ROLLCALL_NATS_RELAY_CREDENTIALS_FILE and ROLLCALL_NATS_READER_CREDENTIALS_FILE belong together: set both, or none',
    );
  return {
    servers,
    ...(relayCredentials !== null && readerCredentials !== null
      ? { credentials: { relay: relayCredentials, reader: readerCredentials } }
      : {}),
    ...(caFile === null ? {} : { caFile }),
    sizes: { replicas, eventBytes: eventsMib * MIB, batchBytes: batchesMib * MIB },
    acknowledgeWithinMs: acknowledgeSeconds * 1_000,
  };
};

/** Never repeats the address, which may hold a password that does not belong there. */
const problemOf = (server: string, isPlainAllowed: boolean): string | null => {
  const url = URL.canParse(server) ? new URL(server) : null;
  if (url === null || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '')
    return 'is not a URL that begins with nats: or tls:';
  if (url.username || url.password) return 'holds a user or a password: they belong into the credentials files';
  if (url.protocol === 'nats:' && !LOOPBACK.has(url.hostname) && !isPlainAllowed)
    return `leads to ${url.hostname} without encryption: use tls:, or set ROLLCALL_NATS_PLAIN=1 where the network is the plane's own`;
  return null;
};
