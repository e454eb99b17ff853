import { expect, it } from '@jest/globals';
import { readConfig } from '@rollcall/settings';
import { readNatsFeed } from './feed-settings.js';

const read = (environment: Record<string, string>) =>
  readConfig(environment, (settings) => ({ feed: readNatsFeed(settings) })).feed;

it('has no feed where none is named', () => expect(read({})).toBeNull());

it('reads one or several servers, and where the credentials are', () =>
  expect(
    read({
      ROLLCALL_NATS_URL: 'tls://nats-1:4222, tls://nats-2:4222',
      ROLLCALL_NATS_RELAY_CREDENTIALS_FILE: '/run/relay',
      ROLLCALL_NATS_READER_CREDENTIALS_FILE: '/run/reader',
      ROLLCALL_NATS_CA_FILE: '/run/ca.pem',
      ROLLCALL_NATS_REPLICAS: '3',
      ROLLCALL_NATS_EVENTS_MIB: '64',
      ROLLCALL_NATS_ACKNOWLEDGE_SECONDS: '10',
    }),
  ).toEqual({
    servers: ['tls://nats-1:4222', 'tls://nats-2:4222'],
    credentials: { relay: '/run/relay', reader: '/run/reader' },
    caFile: '/run/ca.pem',
    sizes: { replicas: 3, eventBytes: 64 * 1_048_576, batchBytes: 1_024 * 1_048_576 },
    acknowledgeWithinMs: 10_000,
  }));

it.each(['nats://127.0.0.1:4222', 'nats://localhost:4222', 'nats://[::1]:4222'])(
  'takes %s on the loopback as it is',
  (url) => expect(read({ ROLLCALL_NATS_URL: url })?.servers).toEqual([url]),
);

it('takes an unencrypted connection to elsewhere only where somebody has said so', () => {
  expect(() => read({ ROLLCALL_NATS_URL: 'nats://nats:4222' })).toThrow(
    /leads to nats without encryption.*ROLLCALL_NATS_PLAIN/,
  );
  expect(read({ ROLLCALL_NATS_URL: 'nats://nats:4222', ROLLCALL_NATS_PLAIN: '1' })?.servers).toEqual([
    'nats://nats:4222',
  ]);
});

it.each([
  ['http://127.0.0.1', 'is not a URL that begins with nats: or tls:'],
  ['nonsense', 'is not a URL'],
  ['nats://user:hunter2@127.0.0.1', 'they belong into the credentials files'],
])('refuses %s and does not repeat it', (url, problem) => {
  expect(() => read({ ROLLCALL_NATS_URL: url })).toThrow(problem);
  expect(() => read({ ROLLCALL_NATS_URL: url })).not.toThrow('hunter2');
});

it('wants both credentials, or none', () =>
  expect(() =>
    read({ ROLLCALL_NATS_URL: 'nats://127.0.0.1', ROLLCALL_NATS_RELAY_CREDENTIALS_FILE: '/run/relay' }),
  ).toThrow('belong together'));
