import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect as connectTcp, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { FleetReport } from '@rollcall/fleet-simulator';
import { decodeEnrolmentToken, encodeEnrolmentToken } from '@rollcall/wire';
import { startPlane, type ProcessPlane } from '../../support/plane.js';
import { eventually, type Running } from '../../support/processes.js';

jest.setTimeout(180_000);

const SIMULATOR = join(resolve(import.meta.dirname, '../../..'), 'dist/apps/fleet-simulator/fleet-simulator.mjs');

/** How many sockets strangers hold at once, by what they do with them (row 38). */
const HELD = { silent: 2_500, halfHandshake: 1_500, quiet: 300, slowHeaders: 300, slowBodies: 400 } as const;
const FILES_NEEDED = 8_192;
/** The limits of an instance: until the headers are there, the request is there, and how late it may look. */
const [HEADERS_MS, REQUEST_MS, LOOKS_EVERY_MS] = [10_000, 15_000, 2_000];
/** What a busy machine may add before a timer of ours runs. */
const LATE_MS = 4_000;
/** A held connection is up to 60 KB with its TLS, and what they leave behind in the heap until it is swept is no more than that again. */
const BYTES_PER_SOCKET = 120_000;

const HALF_A_HELLO = Buffer.from('160301020001', 'hex');
const HEAD = 'POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

describe('an instance of the machine API before slow and rude clients', () => {
  let plane: ProcessPlane;
  let instance: Running;
  let port: number;
  let url: string;
  const open = new Set<Socket>();

  beforeAll(async () => {
    plane = await startPlane();
    [instance] = plane.machineApis as [Running, ...Running[]];
    for (const process of ['self', instance.pid] as const) await requireFiles(process);
    [, url = ''] = await instance.waitFor(/"url":"([^"]+)","msg":"machines can check in"/);
    port = Number(new URL(url).port);
  }, 120_000);
  afterEach(() => {
    for (const socket of open) socket.destroy();
  });
  afterAll(async () => {
    await plane.close();
  }, 60_000);

  /** Keeps a socket, and how long it lived. */
  const held = (socket: Socket) => {
    const from = performance.now();
    open.add(socket);
    socket.on('error', () => undefined);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    // Not `once` of node:events, which gives up at an error; here it is one more way to end.
    const lived = new Promise<{ readonly ms: number; readonly answer: string }>((resolve) =>
      socket.once('close', () => {
        open.delete(socket);
        resolve({ ms: performance.now() - from, answer });
      }),
    );
    return { socket, lived };
  };
  const tcp = async (bytes?: Buffer) => {
    const one = held(connectTcp({ host: '127.0.0.1', port }));
    await once(one.socket, 'connect');
    if (bytes) one.socket.write(bytes);
    return one;
  };
  const tls = async () => {
    const one = held(connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false }));
    await once(one.socket, 'secureConnect');
    return one;
  };
  /** One byte a second, for as long as somebody listens. */
  const trickle = async (begun: string, endlessly: string) => {
    const one = await tls();
    one.socket.write(begun);
    const timer = setInterval(() => one.socket.write(endlessly), 1_000);
    void one.lived.then(() => clearInterval(timer));
    return one;
  };
  const many = async <Result>(count: number, make: () => Promise<Result>): Promise<Result[]> => {
    const made: Result[] = [];
    while (made.length < count)
      made.push(...(await Promise.all(Array.from({ length: Math.min(20, count - made.length) }, make))));
    return made;
  };
  /** Lets machines check in at this one instance meanwhile, from a process of their own. */
  const whileServed = async (work: () => Promise<void>) => {
    const here = async () =>
      encodeEnrolmentToken({ ...decodeEnrolmentToken(await plane.enrolmentToken()), address: url });
    const tokens = await Promise.all(Array.from({ length: 40 }, here));
    const args = [SIMULATOR, '--rate', '20', '--event-every', '0', '--json'];
    const fleet = await plane.processes.start('fleet-simulator', process.execPath, args, { input: tokens.join('\n') });
    await fleet.waitFor(/checking in/);
    await work();
    await fleet.stop('SIGINT');
    const { latency, outcomes } = JSON.parse(fleet.stdout()) as FleetReport;
    expect(Object.keys(outcomes)).toEqual(['accepted']);
    // Patience, and what one stalled moment of a busy machine may add to it.
    expect(latency.p99).toBeLessThan(1_000);
    expect(latency.max).toBeLessThan(3_000);
  };

  it('serves machines while strangers hold 5,000 sockets, ends each in its time, and is then as before (row 38)', async () => {
    const before = { sockets: await socketsOf(port), memory: await memoryOf(instance) };
    await whileServed(async () => {
      const slowBodies = await many(HELD.slowBodies, () => trickle(`${HEAD}Content-Length: 1000\r\n\r\n`, ' '));
      const slowHeaders = await many(HELD.slowHeaders, () => trickle(HEAD, 'x'));
      const quiet = await many(HELD.quiet, tls);
      const silent = await many(HELD.silent, () => tcp());
      const halfHandshake = await many(HELD.halfHandshake, () => tcp(HALF_A_HELLO));
      // The slow machine of a neighbour may have lost some of the first ones by now, but never those that cost nothing.
      expect((await socketsOf(port)) - before.sockets).toBeGreaterThan(HELD.silent + HELD.halfHandshake);
      expect((await memoryOf(instance)) - before.memory).toBeLessThan(open.size * BYTES_PER_SOCKET);

      for (const { lived } of [...quiet, ...slowHeaders, ...silent, ...halfHandshake])
        expectAround(HEADERS_MS, (await lived).ms);
      for (const { lived } of slowHeaders) expect((await lived).answer).toMatch(/^HTTP\/1\.1 400 [^]*bad-request/);
      for (const { lived } of slowBodies) expectAround(REQUEST_MS, (await lived).ms);
    });
    await eventually('the sockets are gone', async () => (await socketsOf(port)) <= before.sockets, 30_000);
  });

  it('refuses bodies of 10 MB at once, without reading them (row 38)', async () => {
    const before = await memoryOf(instance);
    const size = 10_000_000;
    await whileServed(async () => {
      for (let round = 0; round < 5; round += 1)
        await Promise.all(
          Array.from({ length: 10 }, async () => {
            // One listens after the first bytes; the other pushes all of it, and may find the line cut before it hears why.
            const [listening, pushing] = [await tls(), await tls()];
            for (const [{ socket }, bytes] of [
              [listening, 1_000],
              [pushing, size],
            ] as const) {
              socket.write(`${HEAD}Content-Length: ${size}\r\n\r\n`);
              socket.write(Buffer.alloc(bytes, 32));
            }
            const [told, cut] = await Promise.all([listening.lived, pushing.lived]);
            expect(told.answer).toMatch(/^HTTP\/1\.1 413 [^]*too-large/);
            expect(Math.max(told.ms, cut.ms)).toBeLessThan(1_000 + LATE_MS);
          }),
        );
    });
    expect((await memoryOf(instance)) - before).toBeLessThan(10 * size);
  });

  it('answers one of the requests that a stranger sends all at once, and hangs up (row 38)', async () => {
    await whileServed(async () => {
      const { socket, lived } = await tls();
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(5_000));
      expect((await lived).answer.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
    });
  });
});

const expectAround = (limit: number, ms: number) => {
  expect(ms).toBeGreaterThan(limit - LOOKS_EVERY_MS);
  expect(ms).toBeLessThan(limit + LOOKS_EVERY_MS + LATE_MS);
};

/** How many connections somebody has to a port of this host, as its server sees it. */
const socketsOf = async (port: number): Promise<number> => {
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  const own = port.toString(16).toUpperCase().padStart(4, '0');
  return lines.filter(([, local, , state]) => local?.endsWith(`:${own}`) && HOLDING_STATES.has(state ?? '')).length;
};

/** Established, and closed by the other side only. */
const HOLDING_STATES: ReadonlySet<string> = new Set(['01', '08']);

/** Bytes that a process has in memory. */
const memoryOf = async ({ pid }: Running): Promise<number> =>
  Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024;

const requireFiles = async (process: number | 'self'): Promise<void> => {
  const [, most = ''] = /Max open files +(\d+)/.exec(await readFile(`/proc/${process}/limits`, 'utf8')) ?? [];
  if (most !== 'unlimited' && Number(most) < FILES_NEEDED)
    throw new Error(`This test holds 5,000 sockets: run it with "ulimit -n ${FILES_NEEDED}" (here: ${most})`);
};
