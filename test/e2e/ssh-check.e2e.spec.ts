import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually, Processes } from '../support/processes.js';
import { LOGGED, startSshd, type TestSshd } from '../support/sshd.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const program = join(import.meta.dirname, '../../dist/apps/cli/rollcall.mjs');
const processes = new Processes();
let home: string;
let sshd: TestSshd;
let bastion: TestSshd;
let proxy: TcpProxy;

beforeAll(async () => {
  [home, sshd, bastion] = await Promise.all([mkdtemp(join(tmpdir(), 'rollcall-ssh-check-')), startSshd(), startSshd()]);
  proxy = await TcpProxy.listen({ host: '127.0.0.1', port: bastion.port });
  await mkdir(join(home, 'tmp'));
  await writeFile(
    join(home, 'ssh_config'),
    `Host box
       HostName 127.0.0.1
       Port ${sshd.port}
       User ${sshd.user}
       ProxyJump between
     Host between
       HostName 127.0.0.1
       Port ${proxy.port}
       User ${bastion.user}
       IdentityFile ${bastion.keyFile}
     Host chain
       ProxyJump between,box
    `,
  );
});
afterAll(async () => {
  await processes.close();
  await proxy[Symbol.asyncDispose]();
  await Promise.all([sshd.close(), bastion.close(), rm(home, { recursive: true })]);
});

const argv = (...words: string[]) => [
  program,
  '--json',
  'ssh-check',
  '-F',
  join(home, 'ssh_config'),
  '-i',
  sshd.keyFile,
  ...words,
];

const environment = () => ({ ROLLCALL_CONFIG_DIR: join(home, 'config'), TMPDIR: join(home, 'tmp') });

const sshCheck = (...words: string[]) =>
  processes.start('rollcall', process.execPath, argv(...words), { env: environment() });

const events = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { event: string; host?: string; fingerprint?: string; cause?: string });

it('goes on only where each key on the way is named, and then leaves nothing on Ctrl-C (C30, O9, T-2.4, U6)', async () => {
  const accepted: string[] = [];
  for (const host of [`[127.0.0.1]:${proxy.port}`, `[127.0.0.1]:${sshd.port}`]) {
    const refused = await sshCheck(...accepted.flatMap((key) => ['--accept-host-key', key]), 'box');
    expect(await refused.exited).toEqual({ code: 1, signal: null });
    const [{ event, host: asked, fingerprint = '' } = { event: 'none' }] = events(refused.stdout()).slice(-1);
    expect([event, asked]).toEqual(['host-key', host]);
    expect(refused.output()).toContain(`--accept-host-key ${fingerprint}`);
    accepted.push(fingerprint);
  }
  expect(sshd.count(LOGGED.attempt)).toBe(0);

  // A terminal that is closed is a Ctrl-C as well.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    const held = await sshCheck(...accepted.flatMap((key) => ['--accept-host-key', key]), 'box');
    await held.waitFor(/"event":"connected"/);
    expect(await readdir(join(home, 'tmp'))).toHaveLength(1);
    held.signal(signal);
    expect(await held.exited).toEqual({ code: 130, signal: null });
    expect(await readdir(join(home, 'tmp'))).toEqual([]);
  }
  await eventually('both servers are left', () =>
    Promise.resolve(sshd.sessions().length + bastion.sessions().length === 0),
  );
  expect(sshd.count(LOGGED.command)).toBe(0);
});

it('leaves nothing where its reader has gone (T-2.4, U6)', async () => {
  // Nobody reads the second line, nor the process that writes it.
  const unread = await processes.start(
    'reader',
    'sh',
    ['-c', '"$@" | head -c 0', 'sh', process.execPath, ...argv('box')],
    {
      env: environment(),
    },
  );
  expect(await unread.exited).toEqual({ code: 0, signal: null });
  expect(await readdir(join(home, 'tmp'))).toEqual([]);
});

it('says at once that a connection was reset, and ends with 1 (T-1.4, T-1.9, U6)', async () => {
  const held = await sshCheck('box');
  await held.waitFor(/"event":"connected"/);
  proxy.reset();
  expect(await held.exited).toEqual({ code: 1, signal: null });
  expect(events(held.stdout()).map(({ event, cause }) => [event, cause])).toEqual([
    ['connected', undefined],
    ['lost', 'link-ended'],
  ]);
  expect(held.output()).toContain('The connection to box is lost: it ended.');
  expect(await readdir(join(home, 'tmp'))).toEqual([]);
});

it('refuses by name what it cannot honour, and dials nobody for it', async () => {
  const connections = bastion.count(LOGGED.connection);
  const refused = await sshCheck('chain');
  expect(await refused.exited).toEqual({ code: 1, signal: null });
  expect(refused.output()).toContain('ProxyJump between,box');
  expect(bastion.count(LOGGED.connection)).toBe(connections);
});
