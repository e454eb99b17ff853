import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it, jest } from '@jest/globals';
import { Controller, Get, Module, Req, Res } from '@nestjs/common';
import { Clock } from '@rollcall/lifetimes';
import type { AnsweredRequest } from '@rollcall/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Does } from '../access/action.js';
import { recordingLogger } from '../testing/index.js';
import { sendEvents, type ServerSentEvent } from './event-stream.js';
import { startHttpsApp, type HttpsApp } from './https-app.js';

jest.setTimeout(30_000);

/** Stands still, but for what a test adds. */
class StandingClock extends Clock {
  now = 0;
  wall = (): number => this.now;
  monotonic = (): number => this.now;
  sleep = (): Promise<void> => Promise.resolve();
}

let source: (ended: AbortSignal) => AsyncIterable<ServerSentEvent>;
const clock = new StandingClock();

@Controller('stream')
class Streams {
  @Does('tell-health')
  @Get()
  stream(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    void sendEvents(request, reply, source, clock);
  }
}
@Module({ controllers: [Streams] })
class StreamsModule {}

let app: HttpsApp | null = null;
afterEach(() => app?.close());

const answered: AnsweredRequest[] = [];
const open = async (): Promise<{ socket: Socket; text: () => string; lines: () => Record<string, unknown>[] }> => {
  const { logger, lines } = recordingLogger();
  app = await startHttpsApp({
    module: StreamsModule,
    logger,
    tls: null,
    host: '127.0.0.1',
    port: 0,
    portVariable: 'NONE',
    answered: (request) => answered.push(request),
    drainMs: 600_000,
  });
  const socket = connect(app.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n');
  return { socket, text: () => text, lines };
};
/** Resolves when a condition holds; asked after each turn of the event loop. */
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resume) => setImmediate(resume));
};

const big = 'x'.repeat(100_000);

it('makes no event before the one before was taken, and ends who takes half a minute for one, saying so (U3)', async () => {
  let made = 0;
  source = async function* () {
    for (;;) yield { id: String((made += 1)), event: 'big', data: { big } };
  };
  const { socket, text } = await open();
  socket.pause();
  let before = -1;
  // What the sockets hold is full when nothing more is made for a while.
  for (let quiet = 0; quiet < 50; quiet = made === before ? quiet + 1 : 0) {
    before = made;
    await new Promise((resume) => setTimeout(resume, 5));
  }
  const full = made;
  clock.now += 31_000;
  socket.resume();
  await once(socket, 'close').catch(() => undefined);
  expect(text()).toContain('event: end\ndata: {"reason":"too-slow"}\n\n');
  expect(made).toBeLessThanOrEqual(full + 2);
  expect(full).toBeLessThan(200);
});

it('ends when the instance ends, and is no request that took long (U3, U9)', async () => {
  let ended = false;
  source = async function* (signal) {
    try {
      yield { event: 'first', data: {}, comment: 'hello' };
      await new Promise((resume) => signal.addEventListener('abort', resume));
    } finally {
      ended = true;
    }
  };
  const { socket, text } = await open();
  await until(() => text().includes(': hello\nevent: first\ndata: {}\n\n'));
  const closing = app?.close();
  await once(socket, 'close');
  await closing;
  expect([ended, text().includes('{"reason":"stopping"}')]).toEqual([true, true]);
  expect(answered).toEqual([]);
});

it('does not hold up the end of its instance though nobody reads it (U9)', async () => {
  let made = 0;
  source = async function* () {
    for (;;) yield { id: String((made += 1)), event: 'big', data: { big } };
  };
  const { socket } = await open();
  socket.pause();
  await until(() => made > 1);
  // Running requests would be waited for longer than this test may take.
  await expect(app?.close()).resolves.toBeUndefined();
  socket.destroy();
});

it('ends its source when the client is gone (U3)', async () => {
  const gone = Promise.withResolvers<void>();
  source = async function* (signal) {
    yield { event: 'first', data: {} };
    await new Promise((resume) => signal.addEventListener('abort', resume));
    gone.resolve();
  };
  const { socket, text } = await open();
  await until(() => text().includes('event: first'));
  socket.destroy();
  await expect(gone.promise).resolves.toBeUndefined();
});

it('says that it cannot go on when its source fails, and tells the log why, not the client (U3)', async () => {
  source = async function* () {
    yield { event: 'first', data: {} };
    throw new Error('password=hunter2');
  };
  const { text, lines } = await open();
  await until(() => text().includes('{"reason":"unavailable"}'));
  expect(text()).not.toContain('hunter2');
  expect(lines()).toContainEqual(expect.objectContaining({ msg: 'a stream could not go on' }));
});
