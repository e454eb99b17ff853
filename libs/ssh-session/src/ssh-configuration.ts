import { execFile } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { homedir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import SshConfig, { type Line } from 'ssh-config';
import { DestinationRefused, type Destination } from './destination.js';
import type { SshTarget } from './ports.js';

const run = promisify(execFile);

/** What a person can say on the command line in place of the configuration. */
export type ConfigurationOptions = {
  /** In place of `~/.ssh/config` and the system's. */
  readonly file?: string | undefined;
  /** Private key files that come before those of the configuration. */
  readonly identities?: readonly string[];
  /** Calls off what OpenSSH has been asked: a condition of the configuration may run a command. (Default: nobody does) */
  readonly signal?: AbortSignal;
  /** Where `SSH_AUTH_SOCK` and the home directory are read from. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** The values of each setting, in order, by its name in lower case. */
export type Settings = ReadonlyMap<string, readonly string[]>;

/** What `ssh -G` has resolved: Include, Match, tokens and defaults. One line for each setting; some come more than once. */
export const parseSettings = (text: string): Settings => {
  const settings = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, name, value = ''] = /^(\S+)\s*(.*)$/.exec(line.trim()) ?? [];
    if (name) settings.set(name.toLowerCase(), [...(settings.get(name.toLowerCase()) ?? []), value]);
  }
  return settings;
};

/**
 * Resolves what a person asked for with OpenSSH's own reading of the person's configuration, the host in between included. Where there is
 * no OpenSSH, a simpler reader does it, which refuses what it does not follow.
 *
 * @throws DestinationRefused, which names the setting
 */
export const resolveDestination = async (target: SshTarget, options: ConfigurationOptions): Promise<Destination> => {
  for (const file of options.identities ?? []) await refuseUnlessThere(file);
  const settings = await settingsOf(target, options);
  const jump = jumpOf(settings, target.host);
  if (jump === null) return destinationOf(target.host, settings, options, null);
  const between = await settingsOf(jump, options);
  if (jumpOf(between, jump.host) !== null)
    throw new DestinationRefused(
      'ProxyJump',
      `The ssh configuration reaches ${target.host} by ${jump.host}, and that by another host (ProxyJump): only one host in between is supported`,
    );
  return destinationOf(target.host, settings, options, destinationOf(jump.host, between, options, null));
};

/** A key file that was named on the command line; of one whose key is in the agent the public half is enough. */
const refuseUnlessThere = async (file: string): Promise<void> => {
  try {
    await access(file).catch(() => access(`${file}.pub`));
  } catch (cause) {
    throw new DestinationRefused('IdentityFile', `There is no key file ${file}`, { cause });
  }
};

const settingsOf = async (target: SshTarget, options: ConfigurationOptions): Promise<Settings> => {
  const { host, user, port } = target;
  const { file, env, signal } = options;
  // Neither an option of ssh nor something that a shell or a log would take for more than a name.
  if (!/^[^-\s\p{C}@/'"`$\\;&<>|(){}][^\s\p{C}@/'"`$\\;&<>|(){}]*$/u.test(host))
    throw new DestinationRefused('Host', `"${host}" is not the name of a host`);
  // A condition of the configuration may hand it to a shell.
  if (user !== undefined && !/^[^-\s\p{C}'"`$;&<>|(){}][^\s\p{C}'"`$;&<>|(){}]*$/u.test(user))
    throw new DestinationRefused('User', `"${user}" is not the name of a user`);
  const args = [
    '-G',
    ...(file === undefined ? [] : ['-F', file]),
    ...(user === undefined ? [] : ['-l', user]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    '--',
    host,
  ];
  try {
    const { stdout } = await run('ssh', args, { env, maxBuffer: 1_048_576, timeout: 30_000, signal });
    return parseSettings(stdout);
  } catch (cause) {
    signal?.throwIfAborted();
    const { code, signal: endedBy, stderr } = cause as { code?: unknown; signal?: unknown; stderr?: string };
    if (code === 'ENOENT') return readWithoutOpenSsh(target, options);
    const said = stderr?.trim() || `ssh -G ended with ${String(code ?? endedBy)} and said nothing`;
    throw new DestinationRefused('ssh', `OpenSSH does not accept the configuration for ${host}: ${said}`, { cause });
  }
};

/** What OpenSSH tries where nothing is configured, of the types that we can use. */
const USUAL_IDENTITIES = ['~/.ssh/id_ed25519', '~/.ssh/id_ecdsa', '~/.ssh/id_rsa'];

const readWithoutOpenSsh = async (
  { host, user, port }: SshTarget,
  { file, env }: ConfigurationOptions,
): Promise<Settings> => {
  const path = file ?? join(env['HOME'] || homedir(), '.ssh', 'config');
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' && file === undefined) return '';
    throw new DestinationRefused('ssh', `The ssh configuration ${path} cannot be read (${cause.code})`, { cause });
  });
  const config = SshConfig.parse(text);
  for (const name of directivesOf(config))
    if (/^(include|match)$/i.test(name))
      throw new DestinationRefused(name, `${path} has ${name}, which can only be followed where OpenSSH is installed`);
  const computed = config.compute(
    { Host: host, ...(user === undefined ? {} : { User: user }) },
    {
      ignoreCase: true,
      matchExec: false,
    },
  );
  const settings = new Map<string, readonly string[]>([['identityfile', USUAL_IDENTITIES]]);
  for (const [name, value] of Object.entries(computed)) {
    const values = [value].flat();
    settings.set(name, name === 'identityfile' ? values : [values.join(' ')]);
  }
  settings.set('hostname', [(settings.get('hostname')?.[0] ?? host).replaceAll('%h', host)]);
  if (port !== undefined) settings.set('port', [String(port)]);
  return settings;
};

const directivesOf = (lines: readonly Line[]): readonly string[] =>
  lines.flatMap((line) => [
    ...('param' in line ? [line.param] : []),
    ...('config' in line ? directivesOf(line.config) : []),
  ]);

/** The one host in between, or null. */
const jumpOf = (settings: Settings, host: string): SshTarget | null => {
  const command = chosen(settings, 'proxycommand');
  if (command !== null)
    throw new DestinationRefused(
      'ProxyCommand',
      `The ssh configuration reaches ${host} by a ProxyCommand, which is not supported; ProxyJump is`,
    );
  const jump = chosen(settings, 'proxyjump');
  if (jump === null) return null;
  if (jump.includes(','))
    throw new DestinationRefused(
      'ProxyJump',
      `The ssh configuration reaches ${host} by several hosts (ProxyJump ${jump}): only one host in between is supported`,
    );
  return parseTarget(named(jump, settings, host).replace(/^ssh:\/\//, ''));
};

/** A host in between may be named after the one behind it; `ssh -G` leaves that as it is written. */
const named = (jump: string, settings: Settings, host: string): string => {
  const tokens: Readonly<Record<string, string>> = {
    '%': '%',
    h: only(settings, 'hostname') || host,
    n: host,
    p: only(settings, 'port') || '22',
    r: only(settings, 'user') || userInfo().username,
  };
  return jump.replace(/%(.?)/g, (_, token: string) => {
    const value = tokens[token];
    if (value === undefined)
      throw new DestinationRefused(
        'ProxyJump',
        `The ssh configuration for ${host} has ProxyJump ${jump}: of the tokens, only %h, %n, %p and %r are supported there`,
      );
    return value;
  });
};

/**
 * Reads `[user@]host[:port]`. A port follows a host without colons or one in brackets; an IPv6 address without them is all host.
 *
 * @throws DestinationRefused
 */
export const parseTarget = (text: string): SshTarget => {
  const [, user, place = ''] = /^(?:([^@]+)@)?([^@]+)$/.exec(text) ?? [];
  const [, bracketed, plain, port] = /^(?:\[([^[\]]+)\]|([^[\]:]+))(?::(\d{1,5}))?$/.exec(place) ?? [];
  const host = isIP(place) === 6 ? place : (bracketed ?? plain);
  if (host === undefined || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535)
    throw new DestinationRefused('Host', `"${text}" is not [user@]host[:port]`);
  return { host, ...(user === undefined ? {} : { user }), ...(port === undefined ? {} : { port: Number(port) }) };
};

/** Settings that change how a host is reached or how we prove who we are, and that we have no way to follow. */
const REFUSED: readonly (readonly [setting: string, instead: string])[] = [
  ['BindInterface', 'BindAddress is supported'],
  ['CertificateFile', 'certificates are not supported; a key in the ssh-agent is'],
  ['PKCS11Provider', 'load its keys into the ssh-agent'],
  ['KnownHostsCommand', 'host keys are confirmed once, by a person'],
  ['RevokedHostKeys', 'a host whose key was revoked needs a new one'],
];

const destinationOf = (
  name: string,
  settings: Settings,
  { identities = [], env }: ConfigurationOptions,
  bastion: Destination | null,
): Destination => {
  for (const [setting, instead] of REFUSED)
    if (chosen(settings, setting.toLowerCase()) !== null)
      throw new DestinationRefused(
        setting,
        `The ssh configuration for ${name} has ${setting}, which is not supported: ${instead}`,
      );
  const preferred = chosen(settings, 'preferredauthentications');
  if (preferred !== null && !preferred.split(',').includes('publickey'))
    throw new DestinationRefused(
      'PreferredAuthentications',
      `The ssh configuration for ${name} wants PreferredAuthentications ${preferred}, and only publickey is supported`,
    );
  if (['no', 'false'].includes(only(settings, 'pubkeyauthentication')))
    throw new DestinationRefused(
      'PubkeyAuthentication',
      `The ssh configuration for ${name} forbids keys (PubkeyAuthentication), and nothing else is supported`,
    );
  const localAddress = chosen(settings, 'bindaddress');
  if (localAddress !== null && isIP(localAddress) === 0)
    throw new DestinationRefused(
      'BindAddress',
      `The ssh configuration for ${name} has BindAddress ${localAddress}, which is no address: names are not supported there`,
    );
  const home = env['HOME'] || homedir();
  const host = only(settings, 'hostname') || name;
  const port = Number(only(settings, 'port') || 22);
  const alias = chosen(settings, 'hostkeyalias');
  const family = { inet: 4, inet6: 6 }[only(settings, 'addressfamily')] ?? 0;
  return {
    name,
    host,
    port,
    user: only(settings, 'user') || userInfo().username,
    pinName: alias ?? (port === 22 ? host : `[${host}]:${port}`),
    localAddress,
    family: family as 0 | 4 | 6,
    agent: agentOf(settings, env, home),
    identities: [
      ...identities,
      ...(settings.get('identityfile') ?? []).map((file) => expand(file, 'IdentityFile', name, home, env)),
    ],
    named: identities,
    isIdentitiesOnly: only(settings, 'identitiesonly') === 'yes',
    bastion,
  };
};

const agentOf = (settings: Settings, env: ConfigurationOptions['env'], home: string): string | null => {
  const configured = only(settings, 'identityagent');
  if (configured === 'none') return null;
  if (configured === '' || configured === 'SSH_AUTH_SOCK') return env['SSH_AUTH_SOCK'] || null;
  const [, variable] = /^\$(\w+)$/.exec(configured) ?? [];
  if (variable !== undefined) return env[variable] || null;
  return expand(configured, 'IdentityAgent', '', home, env);
};

/** `ssh -G` leaves `~`, the variables and the tokens of a file name as they are. */
const expand = (
  path: string,
  setting: string,
  name: string,
  home: string,
  env: ConfigurationOptions['env'],
): string => {
  const expanded = path.replace(/^~(?=\/)|%[%d]|\$\{(\w+)\}/g, (written, variable?: string) => {
    if (variable === undefined) return written === '%%' ? '%' : home;
    const value = env[variable];
    if (!value)
      throw new DestinationRefused(
        setting,
        `The ssh configuration has ${setting} ${path}, and ${variable} is not set in the environment`,
      );
    return value;
  });
  if (/%/.test(path.replace(/%[%d]/g, '')) || expanded.startsWith('~'))
    throw new DestinationRefused(
      setting,
      `The ssh configuration${name === '' ? '' : ` for ${name}`} has ${setting} ${path}: of the tokens, only ~, %d and variables are supported there`,
    );
  return resolve(expanded);
};

const only = (settings: Settings, name: string): string => settings.get(name)?.[0] ?? '';

/** A setting that the person has chosen; null where it is not set or `none`. */
const chosen = (settings: Settings, name: string): string | null => {
  const value = only(settings, name);
  return value === '' || value.toLowerCase() === 'none' ? null : value;
};
