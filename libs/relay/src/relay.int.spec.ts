import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '@rollcall/lifetimes';
import { InMemoryFeed } from '@rollcall/feed/testing';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { PostgresRelayCursor, Relay, type RelayCursor } from './index.js';
import { cursorContract } from './testing/cursor-contract.js';
import { InMemoryRecord } from './testing/index.js';

let database: FreshDatabase;
let owner: Owner;
const opened: PostgresRelayCursor[] = [];

const open = (connectionString = database.url, answerWithin = 4_000) => {
  const cursor = new PostgresRelayCursor({ connectionString, answerWithin });
  opened.push(cursor);
  return cursor;
};

beforeAll(async () => {
  database = await freshDatabase();
  owner = await Owner.connect(database.ownerUrl);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  await owner.rows('delete from relay_cursor');
});
afterAll(async () => {
  await owner[Symbol.asyncDispose]();
  await database.drop();
});

describe('the cursor in Postgres', () => {
  cursorContract(() => Promise.resolve(open()));

  it('is one row, which the plane can neither double nor remove', async () => {
    const cursor = open();
    await cursor.move(null, { epoch: await epoch(), number: 1n });
    await expect(
      owner.rows(`insert into relay_cursor (one, epoch, number) values (false, gen_random_uuid(), 1)`),
    ).rejects.toThrow('relay_cursor_one_check');
    await owner.rows('set role rollcall_app');
    await expect(owner.rows('delete from relay_cursor')).rejects.toThrow('permission denied');
    await owner.rows('reset role');
  });

  it('does not wait for a server that goes silent, and is there again with the next connection', async () => {
    const { hostname: host, port } = new URL(database.url);
    await using proxy = await TcpProxy.listen({ host, port: Number(port) });
    const cursor = open(proxy.through(database.url), 300);
    expect(await cursor.read()).toBeNull();
    proxy.silence();
    await expect(cursor.read()).rejects.toThrow('timeout');
    await eventually('it can be read', async () => (await cursor.read()) === null);
  });

  it('outlives its connections', async () => {
    const cursor = open();
    await cursor.read();
    await owner.terminate(await owner.sessions('rollcall relay'));
    await eventually('it can be read', async () => (await cursor.read()) === null);
    expect(await cursor.read()).toBeNull();
  });
});

describe('relays on Postgres', () => {
  it('that compete, and lose their connections, publish everything and leave the cursor at the head (I6)', async () => {
    const feed = new InMemoryFeed(new SystemClock());
    const record = new InMemoryRecord();
    Object.assign(record, { epoch });
    const over = new AbortController();
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const relays = [open(), open()].map(
      (cursor: RelayCursor) => new Relay({ record, feed, cursor, log, lookEvery: 50 }),
    );
    const runs = relays.map((relay) => relay.run(over.signal));
    for (let round = 0; round < 10; round += 1) {
      for (let n = 0; n < 100; n += 1) record.append('machine-7', { type: 'MachineRenamed', name: 'forge' });
      await owner.terminate(await owner.sessions('rollcall relay'));
      const head = String(record.batches().length);
      await eventually('the cursor is at the head', async () => (await position()) === head);
    }
    over.abort();
    await Promise.all(runs);
    expect(feed.stored).toHaveLength(2_000);
  });

  const position = async () => {
    const [row] = await owner.rows<{ number: string }>('select number from relay_cursor');
    return row?.number;
  };
});

const EPOCH = '0192f0c4-0000-7000-8000-000000000001';
const epoch = () => Promise.resolve(EPOCH);
