import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openHandles } from './processes.js';
import { TcpProxy } from './tcp-proxy.js';

let leaked: ReturnType<typeof openHandles>;
let server: Server;
let proxy: TcpProxy;

beforeAll(async () => {
  leaked = openHandles();
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  proxy = await TcpProxy.listen({ host: '127.0.0.1', port: typeof address === 'object' && address ? address.port : 0 });
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  server.close();
  expect(await leaked()).toEqual([]);
});

/** A connection through the proxy, seen from both of its ends. */
const joined = async () => {
  const client = connect(proxy.port, '127.0.0.1');
  const [[peer]] = (await Promise.all([once(server, 'connection'), once(client, 'connect')])) as [[Socket], unknown];
  const say = async (text: string) => {
    await new Promise((done) => peer.write(text, done));
    // The loopback has it; the proxy, which lives in this process, reads it in its next turns.
    await nextTurn();
    await nextTurn();
    return performance.now();
  };
  return { client, say };
};

it('lets what a server says arrive later, in the order in which it was said, also when it stops delaying', async () => {
  const { client, say } = await joined();
  let heard = '';
  const arrivals = new Map<string, number>();
  client.setEncoding('utf8').on('data', (text: string) => {
    for (const letter of text) arrivals.set(letter, performance.now());
    heard += text;
  });
  const first = await say('a');
  proxy.delayAnswers(400);
  const second = await say('b');
  await say('c');
  proxy.delayAnswers(0);
  await say('d');
  while (heard.length < 4) await once(client, 'data');
  expect(heard).toBe('abcd');
  expect((arrivals.get('a') ?? Infinity) - first).toBeLessThan(300);
  expect((arrivals.get('b') ?? 0) - second).toBeGreaterThan(350);
  client.destroy();
});

it('forgets what is under way when the connection ends', async () => {
  const left = openHandles();
  const { client, say } = await joined();
  proxy.delayAnswers(60_000);
  await say('never');
  client.resetAndDestroy();
  await once(client, 'close');
  proxy.delayAnswers(0);
  expect(await left()).toEqual([]);
});
