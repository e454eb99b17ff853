import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callControl, ControlServer, newControlToken, ReachableListener, takeOwnership } from './index.js';

let directory: string;
let socketPath: string;
let lockPath: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'control-'));
  socketPath = join(directory, 'control.sock');
  lockPath = join(directory, 'daemon.lock');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const token = newControlToken();
const listening = (faults: unknown[] = []) =>
  ControlServer.listen({
    address: { path: socketPath },
    token,
    routes: {
      'GET /status': () => ({ status: 200, body: { fine: true } }),
      'POST /echo': (body) => ({ status: 202, body }),
      'POST /broken': () => Promise.reject(new Error('inside')),
    },
    onFault: (error) => faults.push(error),
  });

describe('the control server', () => {
  it('answers whoever bears the token, on a socket that only its owner can open (O4)', async () => {
    const server = await listening();
    expect((await stat(socketPath)).mode & 0o777).toBe(0o600);
    await expect(callControl({ socketPath, token, method: 'GET', path: '/status' })).resolves.toEqual({
      status: 200,
      body: { fine: true },
    });
    await expect(callControl({ socketPath, token, method: 'POST', path: '/echo', body: [1] })).resolves.toEqual({
      status: 202,
      body: [1],
    });
    await server.close();
    await expect(callControl({ socketPath, token, method: 'GET', path: '/status' })).resolves.toBeNull();
  });

  it('is told of in words when it takes a call and does not answer', async () => {
    const silent = createServer(() => undefined).listen(socketPath);
    await once(silent, 'listening');
    const call = callControl({ socketPath, token, method: 'GET', path: '/status', timeoutMs: 50 });
    await expect(call).rejects.toThrow('The daemon does not answer within 0.05 s');
    silent.close();
  });

  it('gives everybody else the same answer, whatever they ask for (O4)', async () => {
    const server = await listening();
    const answers = await Promise.all(
      [token.slice(1), '', `${token}x`, 'wrong'].flatMap((wrong) =>
        ['/status', '/nothing'].map((path) => callControl({ socketPath, token: wrong, method: 'GET', path })),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]?.status).toBe(401);
    await server.close();
  });

  it('tells no caller what went wrong inside, and goes on', async () => {
    const faults: unknown[] = [];
    const server = await listening(faults);
    const answer = await callControl({ socketPath, token, method: 'POST', path: '/broken', body: {} });
    expect(answer?.status).toBe(500);
    expect(JSON.stringify(answer)).not.toContain('inside');
    expect(faults).toEqual([new Error('inside')]);
    expect((await callControl({ socketPath, token, method: 'GET', path: '/status' }))?.status).toBe(200);
    await server.close();
  });

  it('reads no body beyond a mebibyte, and none that is not JSON', async () => {
    const server = await listening();
    const body = 'x'.repeat(1_100_000);
    const large = callControl({ socketPath, token, method: 'POST', path: '/echo', body });
    expect(
      await large.then(
        (answer) => answer?.status,
        () => 413,
      ),
    ).toBe(413);
    const status = await new Promise((resolve) => {
      const sent = request(
        { socketPath, method: 'POST', path: '/echo', headers: { authorization: `Bearer ${token}` } },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        },
      );
      sent.end('{"half":');
    });
    expect(status).toBe(400);
    await server.close();
  });

  it('ends although somebody is connected and says nothing', async () => {
    const server = await listening();
    const silent = connect(socketPath);
    await once(silent, 'connect');
    await server.close();
    silent.destroy();
    expect(await readdir(directory)).toEqual([]);
  });

  it('refuses to listen where others can reach it, before it listens (O1)', async () => {
    const options = { token, routes: {} };
    await expect(ControlServer.listen({ ...options, address: { host: '0.0.0.0', port: 0 } })).rejects.toBeInstanceOf(
      ReachableListener,
    );
    const loopback = await ControlServer.listen({ ...options, address: { host: '127.0.0.1', port: 0 } });
    await loopback.close();
  });
});

describe('the ownership of a state directory', () => {
  it('goes to one of many that ask at the same moment (O7)', async () => {
    const asked = await Promise.all(Array.from({ length: 20 }, () => takeOwnership(lockPath, socketPath)));
    const owners = asked.filter((ownership) => ownership !== null);
    expect(owners).toHaveLength(1);
    await owners[0]?.release();
    expect(await readdir(directory)).toEqual([]);
  });

  it('is taken over, with the socket, from a process that is gone (O7)', async () => {
    await writeFile(lockPath, JSON.stringify({ pid: 2 ** 22 + 1, started: 'x/1', nonce: 'n' }));
    // What a kill -9 leaves where a socket was: a name that nobody answers to, and that nobody could bind.
    await writeFile(socketPath, '');
    const ownership = await takeOwnership(lockPath, socketPath);
    expect(await readdir(directory)).toEqual(['daemon.lock']);
    await ownership?.release();
  });

  it('is taken over from a process whose number was given to another one since', async () => {
    await writeFile(lockPath, JSON.stringify({ pid: process.pid, started: 'another-boot/1', nonce: 'n' }));
    const ownership = await takeOwnership(lockPath, socketPath);
    expect(ownership).not.toBeNull();
    await ownership?.release();
  });

  it.each([[''], ['{"pid":'], ['null'], ['{"nonce":"n","pid":-1}']])(
    'is taken over from a lock that a power cut left as %p',
    async (content) => {
      await writeFile(lockPath, content);
      const ownership = await takeOwnership(lockPath, socketPath);
      expect(ownership).not.toBeNull();
      await ownership?.release();
    },
  );

  it('is not taken from somebody whose socket answers, even if the number in the lock means nothing here', async () => {
    await writeFile(lockPath, JSON.stringify({ pid: 2 ** 22 + 1, started: 'x/1', nonce: 'n' }));
    const alive = createServer((socket) => socket.destroy()).listen(socketPath);
    await once(alive, 'listening');
    await expect(takeOwnership(lockPath, socketPath)).resolves.toBeNull();
    expect(await readFile(lockPath, 'utf8')).toContain('"n"');
    alive.close();
    await once(alive, 'close');
  });
});
