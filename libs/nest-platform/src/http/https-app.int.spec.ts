import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Body, Controller, Get, Module, Post } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { loadOrCreateAuthority, openTls, type TlsSource } from '@rollcall/plane-ca';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { Does, Authenticator, type Principal } from '../access/action.js';
import { HealthModule } from '../health/health.module.js';
import { eventually } from '../../../../test/support/processes.js';
import { recordingLogger } from '../testing/index.js';
import { startHttpsApp, type HttpsApp, type HttpsAppOptions } from './https-app.js';

let arrived = Promise.withResolvers<void>();
let release = Promise.withResolvers<void>();

@Controller()
@Does('tell-health')
class Slow {
  @Get('slow')
  async slow(): Promise<string> {
    arrived.resolve();
    await release.promise;
    return 'done';
  }

  @Get('quick')
  quick(): string {
    return 'quick';
  }

  @Get('known')
  @Does('show-me')
  known(): string {
    return 'known';
  }

  @Post('body')
  body(@Body() body: unknown): unknown {
    return { keys: Object.keys(body as object).length };
  }
}

class KnowsEverybody extends Authenticator {
  override authenticate(bearer: string | null): Principal {
    if (bearer === null) throw this.unknown();
    return { kind: 'person', fresh: true };
  }

  override unknown(): Refusal {
    return new Refusal('not-signed-in');
  }
}
@Module({
  imports: [HealthModule.register({ checks: () => [] })],
  controllers: [Slow],
  providers: [{ provide: Authenticator, useClass: KnowsEverybody }],
})
class SlowModule {}

let directory: string;
let ca: string;
let tls: TlsSource;
let log: ReturnType<typeof recordingLogger>;
let now: Date;
const started: HttpsApp[] = [];
const agents: Agent[] = [];

beforeEach(async () => {
  arrived = Promise.withResolvers();
  release = Promise.withResolvers();
  log = recordingLogger();
  directory = await mkdtemp(join(tmpdir(), 'https-app-'));
  // Of 90 days, 70 have passed as soon as `now` is set to the real time.
  now = new Date(Date.now() - 70 * 86_400_000);
  tls = await openTls({ directory, name: 'test', hosts: ['localhost'] }, () => now);
  ca = (await loadOrCreateAuthority(directory)).certificatePem;
});
afterEach(async () => {
  release.resolve();
  for (const agent of agents.splice(0)) agent.destroy();
  await Promise.all(started.splice(0).map((one) => one.close()));
  await rm(directory, { recursive: true });
});

const start = async (options: Partial<HttpsAppOptions> = {}): Promise<HttpsApp> => {
  const app = await startHttpsApp({
    module: SlowModule,
    tls,
    host: '127.0.0.1',
    port: 0,
    portVariable: 'TEST_PORT',
    logger: log.logger,
    ...options,
  });
  started.push(app);
  return app;
};

type Answer = { status: number; headers: IncomingHttpHeaders; body: string };
const keptAgent = (): Agent => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agents.push(agent);
  return agent;
};
const headers = { authorization: 'Bearer somebody' };
const call = async (
  app: HttpsApp,
  path: string,
  options: RequestOptions = {},
  payload?: Buffer | string,
): Promise<Answer> => {
  const request = httpsRequest({
    host: '127.0.0.1',
    servername: 'localhost',
    port: app.port,
    path,
    ca,
    agent: false,
    ...options,
  });
  request.end(payload);
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
  let body = '';
  response.setEncoding('utf8');
  for await (const chunk of response) body += chunk as string;
  return { status: response.statusCode ?? 0, headers: response.headers, body };
};

const open = async (app: HttpsApp, options: ConnectionOptions = {}): Promise<TLSSocket> => {
  const socket = connect({ host: '127.0.0.1', servername: 'localhost', port: app.port, ca, ...options });
  await once(socket, 'secureConnect');
  return socket;
};
const everything = async (socket: TLSSocket): Promise<string> => {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  return text;
};

it('speaks TLS 1.3 with machines, and 1.2 only where it is allowed', async () => {
  const app = await start();
  const socket = await open(app);
  expect(socket.getProtocol()).toBe('TLSv1.3');
  socket.destroy();
  await expect(open(app, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/i);
  const older = await open(await start({ minTls: 'TLSv1.2' }), { maxVersion: 'TLSv1.2' });
  expect(older.getProtocol()).toBe('TLSv1.2');
  older.destroy();
});

it('speaks plain HTTP behind a proxy on the same host, with the same limits', async () => {
  const app = await start({ tls: null, limits: { headerBytes: 2_000 } });
  expect(app.url).toBe(`http://127.0.0.1:${app.port}`);
  const answer = await fetch(`${app.url}/quick`);
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
  await answer.text();
  const tooMuch = await fetch(`${app.url}/quick`, { headers: { 'x-filler': 'x'.repeat(3_000) } });
  expect(tooMuch.status).toBe(431);
  await tooMuch.text();
  await app.reloadCertificate();
});

it('names a taken port and the setting that chooses another', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  try {
    await expect(start({ port, portVariable: 'ROLLCALL_X_PORT' })).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is taken by another program. Choose another with ROLLCALL_X_PORT.`,
    );
  } finally {
    other.close();
  }
});

it('drains: finishes what runs, answers new requests on live connections with 503 and Retry-After, and ends', async () => {
  const app = await start();
  const agent = keptAgent();
  expect((await call(app, '/known', { agent, headers })).headers.connection).toBe('keep-alive');
  const running = call(app, '/slow');
  await arrived.promise;
  const closing = app.close();
  const refused = await call(app, '/quick', { agent });
  expect([refused.status, refused.headers['content-type']]).toEqual([503, 'application/problem+json']);
  expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': '2' });
  expect((await call(app, '/readyz')).status).toBe(503);
  expect((await call(app, '/healthz')).status).toBe(200);
  release.resolve();
  expect(await running).toMatchObject({ status: 200, body: 'done' });
  await closing;
  await expect(call(app, '/quick')).rejects.toThrow('ECONNREFUSED');
});

it('does not wait for connections that have asked for nothing when it drains', async () => {
  const app = await start();
  const { port } = app;
  const silent = [createConnection({ port, host: '127.0.0.1' }), await open(app)];
  for (const socket of silent) socket.on('error', () => undefined);
  const gone = silent.map((socket) => once(socket, 'close'));
  if (silent[0]?.connecting) await once(silent[0], 'connect');
  const begun = performance.now();
  await app.close();
  expect(performance.now() - begun).toBeLessThan(5_000);
  await Promise.all(gone);
});

it('ends what does not finish in time when it drains', async () => {
  const app = await start({ drainMs: 50 });
  const running = call(app, '/slow');
  const outcome = running.catch((error: Error) => error.message);
  await arrived.promise;
  const closing = app.close();
  expect(await outcome).toBe('socket hang up');
  release.resolve();
  await closing;
});

it('shows a renewed certificate to new connections and leaves open ones alone', async () => {
  const app = await start();
  const old = await open(app);
  const before = old.getPeerX509Certificate()?.fingerprint256;
  now = new Date();
  await app.reloadCertificate();
  const fresh = await open(app);
  expect(fresh.getPeerX509Certificate()?.fingerprint256).not.toBe(before);
  expect(fresh.getProtocol()).toBe('TLSv1.3');
  await expect(open(app, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/i);
  old.write('GET /quick HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  expect(await everything(old)).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*quick$/);
  fresh.destroy();
});

it('keeps the old certificate, and says so, when the new one cannot be used', async () => {
  const app = await start({
    tls: { material: tls.material, pins: [], refresh: () => Promise.reject(new Error('torn')) },
  });
  await app.reloadCertificate();
  expect(log.lines()).toContainEqual(
    expect.objectContaining({ level: 'error', err: expect.objectContaining({ message: 'torn' }) }),
  );
  expect((await call(app, '/quick')).status).toBe(200);
});

it('cuts a body off at 64 KiB whether its length is told or not (C11)', async () => {
  const app = await start();
  const json = { 'content-type': 'application/json' };
  const told = await call(app, '/body', { method: 'POST', headers: { ...json, 'content-length': 10_000_000 } }, '{');
  expect([told.status, told.headers.connection]).toEqual([413, 'close']);
  const socket = await open(app);
  socket.on('error', () => undefined);
  const answer = everything(socket);
  socket.write(
    'POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  const chunk = `${(16_384).toString(16)}\r\n${'x'.repeat(16_384)}\r\n`;
  for (let sent = 0; sent < 10 && socket.writable; sent += 1) socket.write(chunk);
  expect(await answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*"code":"too-large"/);
});

it('never expands an encoded body (C11)', async () => {
  const bomb = gzipSync(Buffer.alloc(30_000_000));
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const answer = await call(await start(), '/body', { method: 'POST', headers }, bomb);
  expect([answer.status, (JSON.parse(answer.body) as { code: string }).code]).toEqual([415, 'unsupported-type']);
});

it.each([
  [
    'headers that are too large',
    `GET /quick HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`,
    431,
    'headers-too-large',
  ],
  ['what is not HTTP', 'HELO plane\r\n\r\n', 400, 'bad-request'],
  [
    'two lengths',
    'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    400,
    'bad-request',
  ],
  ['an unknown expectation', 'GET /quick HTTP/1.1\r\nHost: x\r\nExpect: magic\r\n\r\n', 400, 'bad-request'],
  ['headers that never end', 'GET /quick HTTP/1.1\r\nHost: x\r\n', 400, 'bad-request'],
  [
    'a body that never ends',
    'POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    400,
    'bad-request',
  ],
] as const)('answers %s with a problem document and hangs up', async (_, bytes, status, code) => {
  const app = await start({ limits: { headersTimeoutMs: 100, requestTimeoutMs: 200, checkingIntervalMs: 20 } });
  const socket = await open(app);
  socket.write(bytes);
  const answer = await everything(socket);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toMatch(/\r\ncontent-type: application\/problem\+json\r\n/i);
  expect(answer).toContain(`"code":"${code}"`);
  expect(log.text()).not.toMatch(/127\.0\.0\.1|remote|HELO/);
});

it('keeps connections alive up to its budget and closes beyond it', async () => {
  const app = await start({ limits: { keepAliveBudget: 1 } });
  const agent = keptAgent();
  const connectionOf = async (asked: Agent) =>
    (await call(app, '/known', { agent: asked, headers })).headers.connection;
  expect([await connectionOf(agent), await connectionOf(keptAgent())]).toEqual(['keep-alive', 'close']);
  expect(await connectionOf(agent)).toBe('keep-alive');
  agent.destroy();
  await eventually('its place is free', async () => (await connectionOf(keptAgent())) === 'keep-alive');
});

it('keeps no connection of strangers, so they use up nothing of the budget (row 38)', async () => {
  const app = await start({ limits: { keepAliveBudget: 1 } });
  for (const path of ['/quick', '/healthz', '/known', '/nowhere'])
    expect([path, (await call(app, path, { agent: keptAgent() })).headers.connection]).toEqual([path, 'close']);
  const json = { method: 'POST', headers: { 'content-type': 'application/json' } };
  expect((await call(app, '/body', { ...json, agent: keptAgent() }, 'no')).headers.connection).toBe('close');
  // Whoever brought what was taken is no stranger.
  expect((await call(app, '/body', { ...json, agent: keptAgent() }, '{}')).headers.connection).toBe('keep-alive');
});

it('ends a connection on which an answer does not get through (row 38)', async () => {
  const app = await start({ limits: { stalledTimeoutMs: 200 } });
  const socket = await open(app);
  socket.on('error', () => undefined);
  const gone = once(socket, 'close');
  socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await arrived.promise;
  await gone;
  expect(socket.destroyed).toBe(true);
});

it.each([
  ['has not begun', ''],
  ['is not finished', '160301020001'],
])('ends a connection whose TLS handshake %s in time (row 38)', async (_, hello) => {
  const app = await start({ limits: { handshakeTimeoutMs: 100 } });
  const socket = createConnection({ port: app.port, host: '127.0.0.1' });
  socket.on('error', () => undefined).resume();
  socket.write(Buffer.from(hello, 'hex'));
  await new Promise((gone) => socket.once('close', gone));
  expect(socket.bytesRead).toBe(0);
});

it('resumes a TLS session that began on another instance, also under a new certificate and after a restart (C15)', async () => {
  const sessionKey = Buffer.alloc(32, 1);
  const [first, second, stranger] = [await start({ sessionKey }), await start({ sessionKey }), await start()];
  const socket = await open(first);
  const [session] = (await once(socket, 'session')) as [Buffer];
  socket.destroy();
  const resumedAt = async (app: HttpsApp) => {
    const again = await open(app, { session });
    const resumed = again.isSessionReused();
    again.destroy();
    return resumed;
  };
  await first.close();
  expect([await resumedAt(second), await resumedAt(stranger)]).toEqual([true, false]);
  now = new Date();
  await second.reloadCertificate();
  expect(await resumedAt(second)).toBe(true);
});
