import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { freshDatabase, testCluster, type FreshDatabase } from '../../../test/support/postgres.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { PostgresLog } from './index.js';

let database: FreshDatabase;
let proxy: TcpProxy;
let log: PostgresLog;

beforeEach(async () => {
  database = await freshDatabase();
  proxy = await TcpProxy.listen({ host: '127.0.0.1', port: testCluster().port });
  log = new PostgresLog({ connectionString: proxy.through(database.url), readers: 4, callTimeoutMs: 1_000 });
});
afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  await database.drop();
});

it('does not wait for a server that went silent without closing: not to read, not to write, not to end', async () => {
  const stop = log.onAppended(() => undefined);
  await log.mark(0);
  await Promise.all(Array.from({ length: 4 }, () => log.newest()));
  proxy.silence();
  const lookUps = [log.holders(['badge:1']), log.newest(), log.epoch()];
  for (const outcome of await Promise.allSettled([...lookUps, log.ask([])])) {
    expect(outcome).toMatchObject({ status: 'rejected' });
  }
  // The other end is there again for whoever calls anew; the connections that went silent are given up, one by one.
  for (let attempt = 0; attempt < 10; attempt += 1) await log.newest().catch(() => undefined);
  expect((await log.newest()).number).toBe(1n);
  expect(await log.mark(0)).toBe(true);
  proxy.silence();
  stop();
  await log.close();
}, 60_000);
