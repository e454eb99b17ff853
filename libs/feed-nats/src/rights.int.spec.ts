import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { BATCH_STREAM, BATCH_SUBJECT, EVENT_STREAM, eventSubject } from '@rollcall/feed';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNats, type TestNats } from '../../../test/support/nats.js';
import { eventually } from '../../../test/support/processes.js';
import { inboxPrefix, NATS_RIGHTS, NatsFeed, type NatsRole } from './index.js';

const template = resolve(import.meta.dirname, '../../../infra/nats/nats-server.conf');
const never = new AbortController().signal;
const event = { subject: eventSubject('machine-1', 'MachineRenamed'), id: 'event-1', body: '{"name":"web-1"}' };

let nats: TestNats;
let feed: NatsFeed;
let as: Record<NatsRole | 'admin', NatsConnection>;
let admin: JetStreamManager;

const enter = async (user: NatsRole | 'admin') =>
  connect({
    servers: nats.url,
    user,
    pass: await nats.password(user),
    ...(user === 'admin' ? {} : { inboxPrefix: inboxPrefix(user) }),
  });

beforeAll(async () => {
  nats = await startNats();
  feed = await NatsFeed.connect({
    servers: [nats.url],
    credentials: { relay: nats.credentials.relay, reader: nats.credentials.projector },
    sizes: { eventBytes: 1024 ** 2, batchBytes: 1024 ** 2 },
  });
  await feed.bringToSetup(never);
  as = {
    relay: await enter('relay'),
    projector: await enter('projector'),
    subscriber: await enter('subscriber'),
    admin: await enter('admin'),
  };
  admin = await jetstreamManager(as.admin);
}, 120_000);
afterAll(async () => {
  await feed.close();
  await Promise.all(Object.values(as).map((connection) => connection.close()));
  await nats.close();
});

/** Those of the subjects on which the server lets a role publish. */
const published = (role: NatsRole, ...subjects: readonly string[]) =>
  notRefused(subjects, /Permissions Violation for Publish/i, (subject) =>
    as[role].request(subject, '{}', { timeout: 5_000 }),
  );

/** Those of the subjects that the server lets a role hear. */
const heard = (role: NatsRole, ...subjects: readonly string[]) =>
  notRefused(subjects, /Permissions Violation for Subscription/i, async (subject) => {
    const answer = new Promise((resolve, reject) =>
      as[role].subscribe(subject, { callback: (error, message) => (error ? reject(error) : resolve(message)) }),
    );
    // The server has answered to the subscription before it answers to this.
    await Promise.race([answer, as[role].flush()]);
  });

const notRefused = async (
  subjects: readonly string[],
  refusal: RegExp,
  attempt: (subject: string) => Promise<unknown>,
): Promise<readonly string[]> => {
  const passed: string[] = [];
  for (const subject of subjects)
    await attempt(subject).then(
      () => passed.push(subject),
      (error: unknown) => refusal.test(String(error)) || passed.push(subject),
    );
  return passed;
};

const DESTRUCTION = [BATCH_STREAM, EVENT_STREAM].flatMap((stream) =>
  ['STREAM.DELETE', 'STREAM.PURGE', 'STREAM.MSG.DELETE'].map((call) => `$JS.API.${call}.${stream}`),
);
const ROLES = ['relay', 'projector', 'subscriber'] as const;

describe('nobody', () => {
  it('comes in without a password', () =>
    expect(connect({ servers: nats.url, maxReconnectAttempts: 0 })).rejects.toThrow(/Authorization Violation/));

  it.each(ROLES)('of the plane deletes or purges: %s', async (role) =>
    expect(await published(role, ...DESTRUCTION)).toEqual([]),
  );

  it.each(ROLES)('listens to what is not its own: %s', async (role) => {
    const inboxes = ROLES.filter((other) => other !== role).map((other) => `${inboxPrefix(other)}.>`);
    expect(await heard(role, 'rollcall.>', '>', '_INBOX.>', '$JS.>', ...inboxes)).toEqual([]);
    expect(await heard(role, `${inboxPrefix(role)}.own`)).toEqual([`${inboxPrefix(role)}.own`]);
  });
});

describe('the relay', () => {
  it('publishes and keeps the streams, and reads through no consumer', async () => {
    await feed.publish([event]);
    const calls = [`CONSUMER.CREATE.${EVENT_STREAM}.x`, `CONSUMER.MSG.NEXT.${BATCH_STREAM}.machines`];
    const others = ['STREAM.CREATE.OTHER', 'STREAM.MSG.GET.OTHER'];
    expect(await published('relay', ...[...calls, ...others].map((call) => `$JS.API.${call}`))).toEqual([]);
  });
});

describe('the projector', () => {
  it('publishes nothing, and touches no stream', async () => {
    const calls = [`$JS.API.STREAM.UPDATE.${BATCH_STREAM}`, `$JS.API.STREAM.MSG.GET.${EVENT_STREAM}`];
    expect(await published('projector', BATCH_SUBJECT, event.subject, ...calls)).toEqual([]);
  });

  it('has no consumer on the ledger events, and none of another subject', async () => {
    const calls = [
      `$JS.API.CONSUMER.CREATE.${EVENT_STREAM}.machines.${BATCH_SUBJECT}`,
      `$JS.API.CONSUMER.CREATE.${BATCH_STREAM}.machines`,
      `$JS.API.CONSUMER.MSG.NEXT.${EVENT_STREAM}.machines`,
    ];
    expect(await published('projector', ...calls)).toEqual([]);
  });
});

describe('a subscriber', () => {
  const asSubscriber = () => jetstreamManager(as.subscriber, { checkAPI: false });

  it('reads ledger events with a consumer of its own', async () => {
    await feed.publish([event]);
    await (await asSubscriber()).consumers.add(EVENT_STREAM, { durable_name: 'audit', ack_policy: 'explicit' });
    const consumer = await jetstream(as.subscriber).consumers.get(EVENT_STREAM, 'audit');
    const message = await consumer.next({ expires: 5_000 });
    expect(message?.subject).toBe(event.subject);
    expect(message?.string()).toBe(event.body);
    expect(await message?.ackAck()).toBe(true);
  });

  it('publishes nothing, and sees nothing of the batches', async () => {
    const calls = ['STREAM.INFO', 'STREAM.MSG.GET', 'CONSUMER.LIST'].map((call) => `$JS.API.${call}.${BATCH_STREAM}`);
    const consumers = ['CREATE', 'INFO', 'MSG.NEXT', 'DELETE'].map(
      (call) => `$JS.API.CONSUMER.${call}.${BATCH_STREAM}.machines`,
    );
    const acknowledgement = `$JS.ACK.${BATCH_STREAM}.machines.1.1.1.1.0`;
    expect(
      await published('subscriber', event.subject, BATCH_SUBJECT, ...calls, ...consumers, acknowledgement),
    ).toEqual([]);
  });

  it('gets nothing stored as a batch by letting the server deliver ledger events there', async () => {
    await feed.publish([event]);
    // The server delivers with its own rights: only what the relay wrote into the message keeps it out.
    await (
      await asSubscriber()
    ).consumers.add(EVENT_STREAM, { durable_name: 'forger', deliver_subject: BATCH_SUBJECT, ack_policy: 'none' });
    await eventually('it was delivered', async () => {
      const { delivered } = await admin.consumers.info(EVENT_STREAM, 'forger');
      return delivered.stream_seq > 0;
    });
    await feed.publish([{ subject: BATCH_SUBJECT, id: 'epoch-1', body: 'a true one' }]);
    expect((await admin.streams.info(BATCH_STREAM)).state.messages).toBe(1);
  });
});

describe('the template for operators', () => {
  it('gives each role the rights that the plane is tested with', async () => {
    const text = (await readFile(template, 'utf8')).replaceAll(/^\s*#.*$/gm, '');
    for (const [role, { publish, subscribe }] of Object.entries(NATS_RIGHTS)) {
      const block = new RegExp(`^${role.toUpperCase()}: \\{([^}]*)\\}`, 'm').exec(text)?.[1] ?? '';
      const [first = '', second = ''] = block.split('subscribe:');
      const subjects = (part: string) => [...part.matchAll(/"([^"]+)"/g)].map(([, subject]) => subject);
      expect([role, subjects(first), subjects(second)]).toEqual([role, [...publish], [...subscribe]]);
    }
  });

  it('is one that the server takes', async () => {
    // As its comment says: in quotes, so that any password is one.
    const env = { NATS_RELAY_PASSWORD: '"1e5"', NATS_PROJECTOR_PASSWORD: '"12"', NATS_SUBSCRIBER_PASSWORD: '"c"' };
    const { stderr } = await promisify(execFile)(nats.program, ['-t', '-c', template], { env });
    expect(stderr).toContain('is valid');
  });
});
