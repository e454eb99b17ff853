import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, freePort, openHandles } from '../../../test/support/processes.js';
import { requireSystemTool } from '../../../test/support/system-tool.js';
import { EmbeddedNats, findNatsServer, NatsPortTaken, type NatsServer } from './index.js';

let base: string;
let program: NatsServer;
let leaked: ReturnType<typeof openHandles>;

beforeAll(async () => {
  leaked = openHandles();
  await requireSystemTool('nats-server');
  base = await mkdtemp(join(tmpdir(), 'rollcall-embedded-nats-'));
  program = (await findNatsServer(process.env)) as NatsServer;
}, 120_000);
afterAll(async () => {
  await rm(base, { recursive: true, force: true });
  expect(await leaked()).toEqual([]);
});

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('looking for a nats-server', () => {
  it('takes the one that the environment names, before any other', async () => {
    const path = join(base, 'own-server');
    await writeFile(path, '#!/bin/sh\necho "nats-server: v9.8.7"\n');
    await chmod(path, 0o755);
    expect(await findNatsServer({ ...process.env, ROLLCALL_NATS_SERVER: path })).toEqual({ path, version: '9.8.7' });
  });

  it('says so when the named program is none', () =>
    expect(findNatsServer({ ROLLCALL_NATS_SERVER: '/bin/true' })).rejects.toThrow('/bin/true'));

  it('finds one in the usual places without a path, and says its version', async () => {
    expect(await findNatsServer({ PATH: '/nowhere' })).toEqual(program);
    expect(program.version).toMatch(/^2\.\d+\.\d+/);
  });
});

describe('an embedded server', () => {
  it('keeps what it writes from others, lets nobody in without a password, and listens on the loopback only', async () => {
    const directory = join(base, 'private');
    const port = await freePort();
    const server = await EmbeddedNats.open({ directory, port });
    try {
      expect((await stat(directory)).mode & 0o777).toBe(0o700);
      for (const name of ['nats-server.conf', 'rollcall.credentials', 'nats.log'])
        expect([name, (await stat(join(directory, name))).mode & 0o077]).toEqual([name, 0]);
      expect(await readFile(server.credentialsFile('rollcall'), 'utf8')).toMatch(/^rollcall:\S{32}\n$/);
      const [, , , session] = (await readFile(`/proc/${server.pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
      expect(session).toBe(String(server.pid)); // A terminal's Ctrl-C goes to another session.
      expect(await listeners(port)).toEqual(['0100007F']);
    } finally {
      await server.stop();
    }
    expect(await listeners(port)).toEqual([]);
  });

  it('keeps passwords and store over a restart', async () => {
    const options = { directory: join(base, 'kept'), port: await freePort() };
    const server = await EmbeddedNats.open(options);
    const before = await readFile(server.credentialsFile('rollcall'), 'utf8');
    await server.stop();
    const again = await EmbeddedNats.open(options);
    expect(await readFile(again.credentialsFile('rollcall'), 'utf8')).toBe(before);
    expect(await readdir(again.storeDirectory)).toContain('jetstream');
    await again.stop();
  });

  it('is started again when it ends by itself, and says how it ended', async () => {
    const ends: string[] = [];
    const server = await EmbeddedNats.open({
      directory: join(base, 'restarted'),
      port: await freePort(),
      onUnexpectedEnd: (how) => ends.push(how),
    });
    const first = server.pid as number;
    process.kill(first, 'SIGKILL');
    await eventually('another one runs', () => Promise.resolve(server.pid !== null && server.pid !== first));
    expect(ends).toEqual(['signal SIGKILL']);
    await server.stop();
    expect(server.pid).toBeNull();
  });

  it('stays down after kill until it is started, and can be ended while it is down', async () => {
    const ends: string[] = [];
    const server = await EmbeddedNats.open({
      directory: join(base, 'killed'),
      port: await freePort(),
      onUnexpectedEnd: (how) => ends.push(how),
    });
    await server.kill();
    expect(server.pid).toBeNull();
    await server.start();
    expect(server.pid).not.toBeNull();
    await server.kill();
    await server.stop();
    expect(ends).toEqual([]);
  });

  it('ends what a killed owner left behind on the directory, even one that does not listen to it, and starts anew', async () => {
    const options = { directory: join(base, 'orphan'), port: await freePort() };
    await (await EmbeddedNats.open(options)).stop();
    const config = join(options.directory, 'nats-server.conf');
    const orphan = spawn(program.path, ['-c', config], { detached: true, stdio: 'ignore' });
    const gone = once(orphan, 'exit');
    await eventually('the orphan listens', async () => (await listeners(options.port)).length > 0);
    orphan.kill('SIGSTOP');
    const server = await EmbeddedNats.open(options);
    await gone;
    expect(isAlive(orphan.pid as number)).toBe(false);
    await server.stop();
  });

  it('ends what was left behind also where none shall run, and that of no other directory', async () => {
    const options = { directory: join(base, 'unwanted'), port: await freePort() };
    const server = await EmbeddedNats.open({ directory: join(base, 'other'), port: await freePort() });
    await (await EmbeddedNats.open(options)).stop();
    const config = join(options.directory, 'nats-server.conf');
    const gone = once(spawn(program.path, ['-c', config], { detached: true, stdio: 'ignore' }), 'exit');
    await eventually('the orphan listens', async () => (await listeners(options.port)).length > 0);
    await EmbeddedNats.stopAt(options.directory);
    await gone;
    expect(server.pid).not.toBeNull();
    await server.stop();
  });

  it('names a taken port, and starts nothing', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    await expect(EmbeddedNats.open({ directory: join(base, 'taken'), port })).rejects.toThrow(new NatsPortTaken(port));
    holder.close();
  });

  it('shows what a server said that does not start', async () => {
    const path = join(base, 'broken-server');
    await writeFile(path, '#!/bin/sh\necho "no space left" >&2; exit 1\n');
    await chmod(path, 0o755);
    const broken = { directory: join(base, 'broken'), port: await freePort(), program: { path, version: '2.9.10' } };
    await expect(EmbeddedNats.open(broken)).rejects.toThrow('no space left');
  });
});

/** The addresses, as the kernel writes them, on which somebody listens on a port. */
const listeners = async (port: number): Promise<readonly string[]> => {
  const rows = (await Promise.all(['tcp', 'tcp6'].map((table) => readFile(`/proc/net/${table}`, 'utf8')))).join('\n');
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return rows.split('\n').flatMap((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/);
    const [address = '', at] = local.split(':');
    return at === hex && state === '0A' ? [address] : [];
  });
};
