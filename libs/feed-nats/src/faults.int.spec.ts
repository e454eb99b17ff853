import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  batchMessageId,
  BATCH_STREAM,
  BATCH_SUBJECT,
  EVENT_STREAM,
  FeedMisconfigured,
  FeedUnavailable,
  type FeedMessage,
  type FeedReader,
} from '@rollcall/feed';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startNats, type TestNats } from '../../../test/support/nats.js';
import { eventually, freePort, Processes } from '../../../test/support/processes.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { compareConfig } from './compare-config.js';
import { NatsFeed, type NatsFeedOptions } from './index.js';

const MIB = 1024 ** 2;
const EPOCH = '0192f0c4-0000-7000-8000-000000000001';
const never = new AbortController().signal;

let nats: TestNats;
let connection: NatsConnection;
let admin: JetStreamManager;
let told: string[];
let feed: NatsFeed;
let published = 0;

const open = (options: Partial<NatsFeedOptions> = {}) =>
  NatsFeed.connect({
    servers: [nats.url],
    credentials: { relay: nats.credentials.relay, reader: nats.credentials.projector },
    sizes: { eventBytes: 64 * MIB, batchBytes: 64 * MIB },
    tell: (sentence) => told.push(sentence),
    ...options,
  });
const asAdmin = async () => {
  connection = await connect({ servers: nats.url, user: 'admin', pass: await nats.password('admin') });
  admin = await jetstreamManager(connection);
};
const batch = (number: number): FeedMessage => ({
  subject: BATCH_SUBJECT,
  id: batchMessageId({ epoch: EPOCH, number: BigInt(number) }),
  body: `batch ${number}`,
});
const next = (): FeedMessage => batch((published += 1));
const isThrough = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error: unknown) => {
      if (error instanceof FeedUnavailable) return false;
      throw error;
    },
  );
/** Publishes until something of it arrives. */
const heard = (reader: FeedReader) =>
  eventually('the reader hears what is published', async () => {
    const message = next();
    if (!(await isThrough(feed.publish([message])))) return false;
    const some = await reader.take(64, 500, never);
    for (const delivery of some) delivery.ack();
    return some.some(({ body }) => body === message.body);
  });
const connected = () => eventually('the feed is connected', () => Promise.resolve(feed.status().connected));

beforeAll(async () => {
  nats = await startNats();
}, 120_000);
afterAll(() => nats.close());
beforeEach(async () => {
  told = [];
  await nats.server.start();
  await asAdmin();
  for (const stream of [BATCH_STREAM, EVENT_STREAM]) await admin.streams.delete(stream).catch(() => undefined);
  feed = await open();
  await connected();
});
afterEach(async () => {
  await feed.close();
  await connection.close();
});

describe('a server that goes and comes', () => {
  it('is waited for: the feed begins without it, says so, and connects when it is there', async () => {
    await nats.server.kill();
    const early = await open();
    expect(early.status()).toMatchObject({ connected: false });
    expect(await isThrough(early.prepare())).toBe(false);
    await nats.server.start();
    await eventually('it is connected', () => Promise.resolve(early.status().connected));
    await early.prepare();
    await early.close();
  });

  it('that is killed -9 again and again costs neither publishing nor reading', async () => {
    await feed.prepare();
    const reader = feed.read('machines');
    for (let times = 0; times < 3; times += 1) {
      await heard(reader);
      await nats.server.kill();
      expect(await isThrough(feed.publish([next()]))).toBe(false);
      await nats.server.start();
    }
    await heard(reader);
  });

  it('with an empty store gets its streams and consumers again', async () => {
    await feed.prepare();
    const reader = feed.read('machines');
    await heard(reader);
    await nats.server.kill();
    await rm(nats.server.storeDirectory, { recursive: true });
    await nats.server.start();
    await heard(reader);
    expect(told).toContain('A stream is missing, and is made again');
    expect(told.filter((sentence) => sentence.includes('has a consumer'))).toHaveLength(2);
  });

  it('that is dead does not hold up the end of a feed', async () => {
    feed.read('machines');
    await nats.server.kill();
    const at = performance.now();
    await feed.close();
    expect(performance.now() - at).toBeLessThan(3_000);
  });

  it('that accepts connections and says nothing is not waited for', async () => {
    await using proxy = await TcpProxy.listen({ host: '127.0.0.1', port: Number(new URL(nats.url).port) });
    const slow = await open({ servers: [`nats://127.0.0.1:${proxy.port}`], confirmWithinMs: 300 });
    await slow.prepare().catch(() => undefined);
    await eventually('it is prepared', () => isThrough(slow.prepare()));
    proxy.silence();
    const message = next();
    await expect(slow.publish([message])).rejects.toThrow(FeedUnavailable);
    const at = performance.now();
    await slow.close();
    expect(performance.now() - at).toBeLessThan(5_000);
  });
});

describe('what somebody deleted by hand', () => {
  it('is made again: a consumer by its reader', async () => {
    await feed.prepare();
    const reader = feed.read('machines');
    await heard(reader);
    await admin.consumers.delete(BATCH_STREAM, 'machines');
    await heard(reader);
    expect(await feed.describeSetup(never)).toEqual([]);
  });

  it.each([BATCH_STREAM, EVENT_STREAM])('is made again: the stream %s by whoever publishes', async (stream) => {
    await feed.prepare();
    const reader = feed.read('machines');
    await heard(reader);
    await admin.streams.delete(stream);
    expect(await feed.newest()).toEqual(stream === BATCH_STREAM ? null : { epoch: EPOCH, number: BigInt(published) });
    await feed.publish([next(), { subject: 'rollcall.machine.MachineRenamed.1', id: `e-${published}`, body: '{}' }]);
    expect((await admin.streams.info(EVENT_STREAM)).state.messages).toBeGreaterThan(0);
    await heard(reader);
  });
});

describe('settings on the server', () => {
  const drifted = (problem: string) => new FeedMisconfigured([problem]);

  it.each([
    ['max_age', { max_age: 600_000_000_000 }, '600000000000', '3600000000000'],
    ['discard', { discard: 'new' }, '"new"', '"old"'],
    ['duplicate_window', { duplicate_window: 1_000_000_000 }, '1000000000', '120000000000'],
  ] as const)('of a stream that differ are named and left as they are: %s', async (name, change, is, wanted) => {
    await feed.prepare();
    await admin.streams.update(BATCH_STREAM, change);
    const problem = `${name} of stream ${BATCH_STREAM} is ${is}, and should be ${wanted}`;
    await expect(feed.prepare()).rejects.toThrow(drifted(problem));
    expect((await admin.streams.info(BATCH_STREAM)).config).toMatchObject(change);
  });

  it('of the server that let no whole batch through are named', async () => {
    await using processes = new Processes();
    const directory = await mkdtemp(join(tmpdir(), 'rollcall-narrow-nats-'));
    const port = await freePort();
    const config = join(directory, 'nats.conf');
    await writeFile(config, `listen: 127.0.0.1:${port}, max_payload: 65536, jetstream { store_dir: "${directory}" }`);
    await processes.start('nats-server', nats.program, ['-c', config], { ready: /Server is ready/ });
    const narrow = await NatsFeed.connect({ servers: [`nats://127.0.0.1:${port}`] });
    try {
      await eventually('connected', () => Promise.resolve(narrow.status().connected));
      const problem = 'max_payload of the server is 65536, and should be at least 1048576';
      await expect(narrow.prepare()).rejects.toThrow(problem);
    } finally {
      await narrow.close();
      await processes.close();
      await rm(directory, { recursive: true });
    }
  });

  it('of a consumer that differ are named and left as they are, and nothing is read with them', async () => {
    await feed.prepare();
    await admin.consumers.add(BATCH_STREAM, { durable_name: 'machines', ack_policy: 'explicit', max_deliver: 3 });
    const reader = feed.read('machines');
    await eventually('it says so', () => Promise.resolve(feed.status().problem !== null));
    expect(feed.status().problem).toContain('max_deliver of consumer machines is 3, and should be -1');
    await feed.publish([next()]);
    expect(await reader.take(10, 500, never)).toEqual([]);
    expect((await admin.consumers.info(BATCH_STREAM, 'machines')).config.max_deliver).toBe(3);
  });

  it('of a consumer are no problem any more of an instance that has ended its share', async () => {
    await feed.prepare();
    await admin.consumers.add(BATCH_STREAM, { durable_name: 'machines', ack_policy: 'explicit', max_deliver: 3 });
    const reader = feed.read('machines');
    await eventually('it says so', () => Promise.resolve(feed.status().problem !== null));
    await reader.close();
    expect(feed.status().problem).toBeNull();
  });

  it('are shown to an operator, and brought to what they must be on demand', async () => {
    expect(await feed.describeSetup(never)).toEqual([
      `stream ${EVENT_STREAM} is not there`,
      `stream ${BATCH_STREAM} is not there`,
    ]);
    await feed.prepare();
    const reader = feed.read('machines');
    await heard(reader);
    await admin.streams.update(EVENT_STREAM, { max_bytes: MIB });
    await admin.consumers.update(BATCH_STREAM, 'machines', { max_ack_pending: 1 });
    expect(await feed.describeSetup(never)).toEqual([
      `max_bytes of stream ${EVENT_STREAM} is ${MIB}, and should be ${64 * MIB}`,
      'max_ack_pending of consumer machines is 1, and should be 64',
    ]);
    expect(await feed.bringToSetup(never)).toEqual([]);
    await feed.prepare();
    await heard(reader);
    expect(await feed.describeSetup(never)).toEqual([]);
  });

  it('that cannot be changed are named with the way out', async () => {
    await admin.streams.add({ name: BATCH_STREAM, subjects: [BATCH_SUBJECT], retention: 'interest' });
    await expect(feed.bringToSetup(never)).rejects.toThrow(/stream ROLLCALL_BATCHES cannot be changed .*delete it/);
  });

  it('for which the server has no space are not to be deleted for that', async () => {
    await feed.prepare();
    const larger = await open({ sizes: { eventBytes: 8192 * MIB } });
    await expect(larger.bringToSetup(never)).rejects.toThrow(
      /stream ROLLCALL cannot be changed .*: give the server more, or ask for less/,
    );
    await larger.close();
  });

  it('that a server silently ignores are found by reading them back', async () => {
    const asked = { name: 'IGNORING', subjects: ['ignoring'], allow_msg_ttl: true };
    await admin.streams.add(asked);
    const { config } = await admin.streams.info('IGNORING');
    await admin.streams.delete('IGNORING');
    // From version 2.11 on the server knows this one.
    const [, minor = 0] = (connection.info?.version ?? '').split('.').map(Number);
    expect(compareConfig('stream IGNORING', asked, config)).toEqual(
      minor < 11 ? ['allow_msg_ttl of stream IGNORING is not set, and should be true'] : [],
    );
  });
});

describe('messages', () => {
  it('that are not confirmed in time are unknown, and stored once when they are published again', async () => {
    await feed.prepare();
    const hurried = await open({ confirmWithinMs: 1 });
    await eventually('it is connected', () => Promise.resolve(hurried.status().connected));
    const many = Array.from({ length: 2_000 }, next);
    expect(await isThrough(hurried.publish(many))).toBe(false);
    await feed.publish(many);
    expect((await admin.streams.info(BATCH_STREAM)).state.messages).toBe(many.length);
    expect(await feed.newest()).toMatchObject({ number: BigInt(published) });
    await hurried.close();
  });

  it('are not stored in another stream than theirs', async () => {
    await feed.prepare();
    await admin.streams.delete(BATCH_STREAM);
    await admin.streams.add({ name: 'OTHER', subjects: [BATCH_SUBJECT] });
    await expect(feed.publish([next()])).rejects.toThrow(FeedUnavailable);
    expect((await admin.streams.info('OTHER')).state.messages).toBe(0);
    await admin.streams.delete('OTHER');
  });

  it('that are no batches are passed over, once, and hold up nothing', async () => {
    await feed.prepare();
    const reader = feed.read('machines');
    await heard(reader);
    connection.publish(BATCH_SUBJECT, 'junk');
    await heard(reader);
    await eventually('nothing is pending', async () => {
      const { num_ack_pending: pending } = await admin.consumers.info(BATCH_STREAM, 'machines');
      return pending === 0;
    });
    expect(told.filter((sentence) => sentence.includes('passed over'))).toHaveLength(1);
  });
});

describe('credentials', () => {
  it('that cannot be read are said at once, without what is in them', async () => {
    const credentials = { relay: '/nowhere/relay', reader: nats.credentials.projector };
    await expect(open({ credentials })).rejects.toThrow('There are no NATS credentials at /nowhere/relay');
  });

  it('that are refused are named as the problem, never shown, and read again for the next try', async () => {
    const relay = `${nats.credentials.relay}.renewed`;
    await writeFile(relay, 'relay:not-its-password\n', { mode: 0o600 });
    const renewed = await open({ credentials: { relay, reader: nats.credentials.projector } });
    await eventually('it says so', () =>
      Promise.resolve(renewed.status().problem?.includes('Authorization Violation') ?? false),
    );
    expect(told.join()).not.toContain('not-its-password');
    await writeFile(relay, `relay:${await nats.password('relay')}\n`);
    await eventually('it is connected', () => Promise.resolve(renewed.status().connected));
    expect(renewed.status().problem).toBeNull();
    await renewed.close();
  });
});
