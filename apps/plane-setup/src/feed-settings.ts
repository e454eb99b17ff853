import type { FeedSizes, NatsFeedOptions } from '@rollcall/feed-nats';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const MIB = 1024 ** 2;

/**
 * Where NATS is, from the settings of the projector, which checks them in full; here only what a job must not get wrong.
 *
 * @throws Error that names a setting, and never repeats an address, which may hold a password
 */
export const feedSettings = (setting: (name: string, fallback?: string) => string): NatsFeedOptions => {
  const servers = setting('ROLLCALL_NATS_URL')
    .split(',')
    .map((server) => server.trim());
  for (const server of servers) {
    const url = URL.canParse(server) ? new URL(server) : null;
    const isPrivate = url?.protocol === 'tls:' || (url?.protocol === 'nats:' && LOOPBACK.has(url.hostname));
    if (url === null || url.password || !(isPrivate || setting('ROLLCALL_NATS_PLAIN', '0') === '1'))
      throw new Error('ROLLCALL_NATS_URL is not tls://… (or nats://… on this machine) without a password');
  }
  const relay = setting('ROLLCALL_NATS_RELAY_CREDENTIALS_FILE', '');
  const reader = setting('ROLLCALL_NATS_READER_CREDENTIALS_FILE', '');
  if ((relay === '') !== (reader === ''))
    throw new Error('ROLLCALL_NATS_RELAY_CREDENTIALS_FILE and ROLLCALL_NATS_READER_CREDENTIALS_FILE belong together');
  const caFile = setting('ROLLCALL_NATS_CA_FILE', '');
  const count = (name: string, unit: number): number | undefined => {
    const text = setting(name, '');
    if (text !== '' && !/^[1-9]\d{0,6}$/.test(text)) throw new Error(`${name} is not a whole number from 1 on`);
    return text === '' ? undefined : Number(text) * unit;
  };
  const sizes = {
    replicas: count('ROLLCALL_NATS_REPLICAS', 1),
    eventBytes: count('ROLLCALL_NATS_EVENTS_MIB', MIB),
    batchBytes: count('ROLLCALL_NATS_BATCHES_MIB', MIB),
  };
  return {
    servers,
    ...(relay === '' ? {} : { credentials: { relay, reader } }),
    ...(caFile === '' ? {} : { caFile }),
    sizes: Object.fromEntries(Object.entries(sizes).filter(([, value]) => value !== undefined)) as Partial<FeedSizes>,
  };
};
