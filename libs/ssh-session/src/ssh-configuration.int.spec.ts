import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve as absolute } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/processes.js';
import { requireSystemTool } from '../../../test/support/system-tool.js';
import { parseTarget, resolveDestination } from './index.js';

let home: string;

beforeAll(async () => {
  await requireSystemTool('ssh', 'openssh-client');
  home = await mkdtemp(join(tmpdir(), 'rollcall-ssh-config-'));
});
afterAll(() => rm(home, { recursive: true }));

/** The two readers: OpenSSH's own, and the one for where there is none. */
const READERS = [
  ['by OpenSSH', process.env['PATH']],
  ['without OpenSSH', '/nowhere'],
] as const;

/** What a name stands for under a configuration. */
const resolve = async (target: string, config: string, path: string | undefined, agent?: string) => {
  const file = join(home, 'config');
  await writeFile(file, config);
  const env = { PATH: path, HOME: home, ...(agent === undefined ? {} : { SSH_AUTH_SOCK: agent }) };
  return resolveDestination(parseTarget(target), { file, env });
};

describe.each(READERS)('the ssh configuration, read %s,', (_how, path) => {
  it('says where a host is, as whom and with which keys it is entered, and under which name its key is pinned', async () => {
    const config = `
      Host box
        HostName box.example
        Port 2222
        User me
        IdentityFile ~/.ssh/box
        IdentityFile %d/keys/%%box
        IdentityFile \${HOME}/keys/\${SSH_AUTH_SOCK}
        IdentityFile here
        IdentitiesOnly yes
        IdentityAgent none
        AddressFamily inet6
        BindAddress ::1
    `;
    expect(await resolve('box', config, path, '/agent')).toEqual({
      name: 'box',
      host: 'box.example',
      port: 2222,
      user: 'me',
      pinName: '[box.example]:2222',
      localAddress: '::1',
      family: 6,
      agent: null,
      identities: [join(home, '.ssh/box'), join(home, 'keys/%box'), join(home, 'keys/agent'), absolute('here')],
      named: [],
      isIdentitiesOnly: true,
      bastion: null,
    });
    expect(await resolve('you@box:23', config, path, '/agent')).toMatchObject({ port: 23, user: 'you' });
  });

  it('leaves a host that it does not name as it was said, with the agent and the usual keys', async () => {
    expect(await resolve('other.example', 'Host box\n', path, '/agent')).toMatchObject({
      host: 'other.example',
      port: 22,
      pinName: 'other.example',
      agent: '/agent',
      identities: expect.arrayContaining([join(home, '.ssh/id_ed25519')]),
      isIdentitiesOnly: false,
    });
  });

  it('may name one host in between, which is looked up as well, and a name for the pin', async () => {
    const config = `
      Host box
        ProxyJump you@between:24
        HostKeyAlias the-box
      Host between
        HostName between.example
        User me
    `;
    expect(await resolve('box', config, path)).toMatchObject({
      pinName: 'the-box',
      bastion: { name: 'between', host: 'between.example', user: 'you', port: 24, bastion: null },
    });
  });

  it.each([
    ['[2001:db8::1]', 22],
    ['[2001:db8::1]:24', 24],
  ])('may name a host in between by an IPv6 address: %s', async (jump, port) => {
    expect(await resolve('2001:db8::22', `Host 2001:db8::22\n ProxyJump ${jump}\n`, path)).toMatchObject({
      host: '2001:db8::22',
      port: 22,
      bastion: { host: '2001:db8::1', port },
    });
  });

  it('may name the host in between after the one behind it', async () => {
    const config = 'Host box\n HostName box.example\n Port 2222\n User me\n ProxyJump you@gw-%h\nHost gw-*\n';
    expect(await resolve('box', config, path)).toMatchObject({
      bastion: { host: 'gw-box.example', user: 'you', port: 22 },
    });
  });

  it.each([
    ['ProxyCommand', 'ProxyCommand nc %h %p'],
    ['ProxyJump', 'ProxyJump one,two'],
    ['ProxyJump', 'ProxyJump between'],
    ['ProxyJump', 'ProxyJump gw-%d'],
    ['BindAddress', 'BindAddress localhost'],
    ['CertificateFile', 'CertificateFile ~/.ssh/cert'],
    ['BindInterface', 'BindInterface eth0'],
    ['PubkeyAuthentication', 'PubkeyAuthentication no'],
    ['KnownHostsCommand', 'KnownHostsCommand /bin/true'],
    ['PKCS11Provider', 'PKCS11Provider /lib/token.so'],
    ['IdentityFile', 'IdentityFile ~/.ssh/%r'],
    ['IdentityFile', 'IdentityFile ${NOWHERE}/key'],
    ['RevokedHostKeys', 'RevokedHostKeys /etc/ssh/revoked'],
    ['PreferredAuthentications', 'PreferredAuthentications password'],
  ])('is refused by the name of %s where it cannot be honoured: %s', async (setting, line) => {
    const config = `Host box\n  ${line}\nHost between\n  ProxyJump another\n`;
    await expect(resolve('box', config, path)).rejects.toMatchObject({
      name: 'DestinationRefused',
      setting,
      message: expect.stringContaining(setting),
    });
  });

  it.each(['-oProxyCommand=x', 'a b', 'a;b', '$(x)', '`x`', 'a/b'])(
    'is not asked for %s, which names no host',
    (name) =>
      expect(resolveDestination({ host: name }, { env: { PATH: path, HOME: home } })).rejects.toMatchObject({
        setting: 'Host',
      }),
  );
});

it.each(['-x', 'a b', 'a;b', '$(x)', '`x`'])('is not asked for the user %s, who could be more than a name', (user) =>
  expect(resolveDestination({ host: 'box', user }, { env: { HOME: home } })).rejects.toMatchObject({ setting: 'User' }),
);

it('tries a key file that was named on the command line before those of the configuration', async () => {
  const named = join(home, 'named');
  await writeFile(named, '');
  await writeFile(join(home, 'config'), 'IdentityFile /configured\n');
  const options = { file: join(home, 'config'), env: { PATH: process.env['PATH'], HOME: home }, identities: [named] };
  expect(await resolveDestination({ host: 'box' }, options)).toMatchObject({
    identities: [named, '/configured'],
    named: [named],
  });
});

it('is refused where a key file was named that is not there', async () => {
  const identities = [join(home, 'mistyped')];
  await expect(resolveDestination({ host: 'box' }, { env: { HOME: home }, identities })).rejects.toThrow('mistyped');
});

it('is called off while a condition of it is being tried', async () => {
  const file = join(home, 'slow');
  await writeFile(file, `Match exec "touch ${join(home, 'tried')}; sleep 2"\n`);
  const off = new AbortController();
  const env = { PATH: process.env['PATH'], HOME: home };
  const resolving = resolveDestination({ host: 'box' }, { file, env, signal: off.signal });
  const outcome = resolving.catch((error: unknown) => String(error));
  await eventually('the condition is tried', async () => (await readdir(home)).includes('tried'));
  off.abort(new Error('called off'));
  expect(await outcome).toContain('called off');
});

it('is followed where it includes another file or depends on a condition, or refused by that name', async () => {
  await writeFile(join(home, 'more'), 'Host box\n  User me\n');
  const included = `Include ${join(home, 'more')}\n`;
  const matched = 'Match host box\n  User me\n';
  for (const [config, setting] of [
    [included, 'Include'],
    [matched, 'Match'],
  ] as const) {
    expect(await resolve('box', config, process.env['PATH'])).toMatchObject({ user: 'me' });
    await expect(resolve('box', config, '/nowhere')).rejects.toMatchObject({ setting });
  }
});

it('is refused with what OpenSSH says of it where it makes no sense', async () => {
  await expect(resolve('box', 'Host box\n  Port many\n', process.env['PATH'])).rejects.toMatchObject({
    setting: 'ssh',
    message: expect.stringContaining('line 2'),
  });
});

it('is refused with how OpenSSH ended where that says nothing', async () => {
  const directory = await mkdtemp(join(home, 'bin-'));
  await writeFile(join(directory, 'ssh'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  await expect(resolve('box', '', directory)).rejects.toThrow('ssh -G ended with 3 and said nothing');
});

it.each([
  ['box', { host: 'box' }],
  ['me@box', { host: 'box', user: 'me' }],
  ['me@box:22', { host: 'box', user: 'me', port: 22 }],
  ['[::1]:2222', { host: '::1', port: 2222 }],
  ['me@[::1]:2222', { host: '::1', user: 'me', port: 2222 }],
  ['[::1]', { host: '::1' }],
  ['me@::1', { host: '::1', user: 'me' }],
  ['::', { host: '::' }],
  ['2001:db8::1', { host: '2001:db8::1' }],
  ['me@2001:db8::22', { host: '2001:db8::22', user: 'me' }],
  ['2001:db8:0:0:0:0:0:22', { host: '2001:db8:0:0:0:0:0:22' }],
  ['fe80::1%eth0', { host: 'fe80::1%eth0' }],
  ['[fe80::1%eth0]:24', { host: 'fe80::1%eth0', port: 24 }],
  ['::ffff:192.0.2.1', { host: '::ffff:192.0.2.1' }],
  ['192.0.2.1:22', { host: '192.0.2.1', port: 22 }],
])('%s is [user@]host[:port]', (text, target) => expect(parseTarget(text)).toEqual(target));

it.each(['', 'me@', 'box:', 'box:0', 'box:70000', 'a@b@c', 'a:b:22', '2001:db8::1::22', '[::1', '[::1]22', '[::1]:'])(
  '"%s" is not',
  (text) => expect(() => parseTarget(text)).toThrow('is not [user@]host[:port]'),
);
