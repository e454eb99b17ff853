import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { BATCH_STREAM, EVENT_STREAM } from '@rollcall/feed';
import { feedContract } from '@rollcall/feed/contract';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startNats, type TestNats } from '../../../test/support/nats.js';
import { openHandles } from '../../../test/support/processes.js';
import { NatsFeed } from './index.js';

let leaked: ReturnType<typeof openHandles>;
let nats: TestNats;

beforeAll(async () => {
  leaked = openHandles();
  nats = await startNats();
}, 120_000);
afterAll(() => nats.close());

const open = () =>
  NatsFeed.connect({
    servers: [nats.url],
    credentials: { relay: nats.credentials.relay, reader: nats.credentials.projector },
    acknowledgeWithinMs: 2_000,
    sizes: { eventBytes: 64 * 1024 ** 2, batchBytes: 64 * 1024 ** 2 },
  });

const deleteStreams = async () => {
  const admin = await connect({ servers: nats.url, user: 'admin', pass: await nats.password('admin') });
  const { streams } = await jetstreamManager(admin);
  for (const stream of [BATCH_STREAM, EVENT_STREAM]) await streams.delete(stream).catch(() => undefined);
  await admin.close();
};

feedContract('NATS JetStream', async () => {
  await deleteStreams();
  const feeds = [await open(), await open()] as const;
  for (const feed of feeds) await feed.describeSetup(AbortSignal.timeout(10_000));
  return {
    feed: feeds[0],
    other: feeds[1],
    acknowledgeWithinMs: 2_000,
    goAway: () => nats.server.kill(),
    comeBack: () => nats.server.start(),
    close: async () => {
      await nats.server.start();
      await Promise.all(feeds.map((feed) => feed.close()));
    },
  };
});

it('leaves no connection and no timer behind', async () => {
  expect((await leaked()).filter((each) => !each.endsWith('ProcessWrap'))).toEqual([]);
});
