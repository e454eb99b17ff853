import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually, openHandles } from './processes.js';
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
  peer.on('error', () => {});
  const say = async (text: string) => {
    await new Promise((done) => peer.write(text, done));
    // The loopback has it; the proxy, which lives in this process, reads it in its next turns.
    await nextTurn();
    await nextTurn();
  };
  return { client, say };
};

it('lets what a server says arrive later, in the order in which it was said, also when it stops delaying', async () => {
  const { client, say } = await joined();
  let heard = '';
  let arrivalOfB = 0;
  client.setEncoding('utf8').on('data', (text: string) => {
    if (text.includes('b')) arrivalOfB = performance.now();
    heard += text;
  });
  await say('a');
  // In its time, whatever comes later.
  await eventually('the first is heard', () => Promise.resolve(heard === 'a'));
  proxy.delayAnswers(400);
  const before = performance.now();
  await say('b');
  await say('c');
  proxy.delayAnswers(0);
  await say('d');
  while (heard.length < 4) await once(client, 'data');
  expect(heard).toBe('abcd');
  expect(arrivalOfB - before).toBeGreaterThan(350);
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

it('holds what is said and who leaves, on both sides, until it heals, and loses nothing', async () => {
  const { client, say } = await joined();
  let heard = '';
  client.setEncoding('utf8').on('data', (text: string) => (heard += text));
  proxy.hold();
  await say('held');
  client.end();
  expect([heard, client.readableEnded]).toEqual(['', false]);
  proxy.heal();
  await once(client, 'data');
  expect(heard).toBe('held');
  await once(client, 'close');
});

it('resets both sides', async () => {
  const { client } = await joined();
  proxy.reset();
  const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNRESET');
});

it('carries no more than its width, and no sooner than half a round trip later', async () => {
  const { client, say } = await joined();
  proxy.narrow({ roundTripMs: 100, bytesPerSecond: 200_000 });
  client.pause();
  const started = performance.now();
  await say('x'.repeat(100_000));
  let heard = 0;
  for await (const chunk of client) if ((heard += (chunk as Buffer).length) === 100_000) break;
  expect(performance.now() - started).toBeGreaterThan(500);
  proxy.narrow({ roundTripMs: 0, bytesPerSecond: Infinity });
  client.destroy();
});
