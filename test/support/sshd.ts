import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually, freePort, Processes, type Running } from './processes.js';
import { makeKeyPair, type KeyPair } from './ssh-keys.js';
import { requireSystemTool } from './system-tool.js';

const run = promisify(execFile);

/** An OpenSSH server of one test file, without privileges, on the loopback, and a key that it lets in. */
export type TestSshd = {
  readonly port: number;
  /** The only account that can log in: the one that it runs under. */
  readonly user: string;
  /** A directory that it and its sessions can write to, and this process too. */
  readonly directory: string;
  /** The file of a private key that it accepts. */
  readonly keyFile: string;
  readonly key: KeyPair;
  readonly hostKeys: Readonly<Record<'ed25519' | 'rsa', KeyPair>>;
  /** All that it has logged so far. */
  log(): string;
  /** How often it has logged that. */
  count(pattern: RegExp): number;
  /** Resolves once it has logged that so often. */
  logged(pattern: RegExp, times?: number): Promise<void>;
  /** Ends it and starts it anew on its port, with these host keys; sessions that are open stay. */
  restart(types: readonly ('ed25519' | 'rsa')[], hostKeys?: TestSshd['hostKeys']): Promise<void>;
  /** The numbers of its processes for connections that are open. */
  sessions(): readonly number[];
  /** Ends it, waits for its sessions, ends those that hang, and removes its directory. */
  close(): Promise<void>;
};

/** What it logs at DEBUG1, where tests count. */
export const LOGGED = {
  connection: /Connection from 127\.0\.0\.1/g,
  attempt: /userauth-request for user/g,
  probe: /rtype cancel-tcpip-forward/g,
  command: /Starting session: command/g,
  streamLocal: /direct-streamlocal@openssh\.com/g,
  end: /(?:Connection closed by|Connection reset by|Closing connection to|Disconnected from)/g,
} as const;

/**
 * Starts one. As root it needs another account, which is made; where there is no sshd, root gets one from apt.
 *
 * @param settings lines of sshd_config that come before our own, so they win
 */
export const startSshd = async (settings: readonly string[] = []): Promise<TestSshd> => {
  const program = await findSshd();
  const account = await accountForSshd();
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-sshd-'));
  const owned = async (name: string, content: string, mode = 0o600): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, content, { mode });
    if (account.isAnother) await chown(path, account.uid, account.gid);
    return path;
  };
  const key = makeKeyPair('ed25519');
  const keyFile = join(directory, 'user-key');
  await writeFile(keyFile, key.private, { mode: 0o600 });
  if (account.isAnother) await chown(directory, account.uid, account.gid);
  await chmod(directory, 0o755);
  const port = await freePort();
  const processes = new Processes();
  let hostKeys = newHostKeys();
  let running: Running | undefined;
  let past = '';

  const start = async (types: readonly ('ed25519' | 'rsa')[]): Promise<void> => {
    const files = await Promise.all(types.map((type) => owned(`host-${type}`, hostKeys[type].private)));
    const config = await owned(
      'sshd_config',
      [
        ...settings,
        ...files.map((file) => `HostKey ${file}`),
        `ListenAddress 127.0.0.1:${port}`,
        `AuthorizedKeysFile ${await owned('authorized_keys', key.public)}`,
        'PidFile none',
        'UsePAM no',
        'StrictModes no',
        'PasswordAuthentication no',
        'KbdInteractiveAuthentication no',
        // The default drops connections at random beyond ten that have not authenticated.
        'MaxStartups 200',
        'MaxSessions 100',
        'LogLevel DEBUG1',
        ...(await saysNoPenalties(program)),
      ].join('\n'),
    );
    // It dies with us, also where we are ended without a chance to clean up.
    const drop = account.isAnother ? [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'] : [];
    running = await processes.start(
      'sshd',
      'setpriv',
      ['--pdeathsig', 'TERM', ...drop, program, '-D', '-e', '-f', config],
      { ready: /Server listening/, env: { HOME: directory } },
    );
  };

  const log = () => past + (running?.output() ?? '');
  const count = (pattern: RegExp) => [...log().matchAll(new RegExp(pattern.source, 'g'))].length;
  const sessions = (): readonly number[] =>
    [...log().matchAll(/Forked child (\d+)/g)].map(([, pid]) => Number(pid)).filter(isSshd);
  await start(['ed25519', 'rsa']);
  return {
    port,
    user: account.name,
    directory,
    keyFile,
    key,
    get hostKeys() {
      return hostKeys;
    },
    log,
    count,
    logged: (pattern, times = 1) =>
      eventually(`sshd logs ${pattern.source} ${times} times`, () => Promise.resolve(count(pattern) >= times)).catch(
        (cause: unknown) => {
          throw new Error(`sshd did not log ${pattern.source} ${times} times. It logged:\n${log()}`, { cause });
        },
      ),
    restart: async (types, others = hostKeys) => {
      past = log();
      await running?.stop();
      running = undefined;
      hostKeys = others;
      await start(types);
    },
    sessions,
    close: async () => {
      await running?.stop();
      running = undefined;
      // Behind a path that is dead it would wait for us.
      for (const pid of sessions()) process.kill(pid, 'SIGTERM');
      await eventually('the sessions of sshd have ended', () => Promise.resolve(sessions().length === 0));
      await processes.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};

/** It takes a while to find one, so the servers of a test file share it. */
let rsa: KeyPair | undefined;

/** Another pair of host keys, for a host that has changed; only the ed25519 one is another. */
export const newHostKeys = (): TestSshd['hostKeys'] => ({
  ed25519: makeKeyPair('ed25519'),
  rsa: (rsa ??= makeKeyPair('rsa')),
});

/** Whether a number is still that of an sshd: a zombie and whoever got the number next are not. */
const isSshd = (pid: number): boolean => {
  try {
    return /^\d+ \(sshd[^)]*\) [^ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

/** Not every account's PATH has the directory of daemons. */
const findSshd = async (): Promise<string> => {
  const usual = '/usr/sbin/sshd';
  if (!existsSync(usual)) await requireSystemTool('sshd', 'openssh-server');
  return existsSync(usual) ? usual : (await run('sh', ['-c', 'command -v sshd'])).stdout.trim();
};

type Account = { readonly name: string; readonly uid: number; readonly gid: number; readonly isAnother: boolean };

const ACCOUNT = 'rollcall-sshd';
const MAKING_ACCOUNT = join(tmpdir(), 'rollcall-useradd.lock');

/** As root it asks for a directory of the system to lock itself into: it runs as somebody else there, who needs a shell to log in with. */
const accountForSshd = async (): Promise<Account> => {
  const own = userInfo();
  if (own.uid !== 0) return { name: own.username, uid: own.uid, gid: own.gid, isAnother: false };
  await run('flock', [
    MAKING_ACCOUNT,
    'sh',
    '-c',
    'getent passwd "$1" >/dev/null || useradd --system --no-create-home --home-dir /tmp --shell /bin/sh --user-group "$1"',
    'sh',
    ACCOUNT,
  ]);
  const { stdout } = await run('getent', ['passwd', ACCOUNT]);
  const [, , uid, gid] = stdout.trim().split(':');
  return { name: ACCOUNT, uid: Number(uid), gid: Number(gid), isAnother: true };
};

/** From 9.8 on it stops answering an address that failed often; versions before refuse to start with the word. */
const saysNoPenalties = async (program: string): Promise<readonly string[]> => {
  const { stderr } = await run(program, ['-V']).catch((error: { stderr?: string }) => ({ stderr: error.stderr ?? '' }));
  const [, major = 0, minor = 0] = (/OpenSSH_(\d+)\.(\d+)/.exec(stderr) ?? []).map(Number);
  return major > 9 || (major === 9 && minor >= 8) ? ['PerSourcePenalties no'] : [];
};

/** A directory in which both this process and sessions of that server can make sockets. */
export const sharedDirectory = async (sshd: TestSshd, name: string): Promise<string> => {
  const path = join(sshd.directory, name);
  await mkdir(path, { mode: 0o777 });
  await chmod(path, 0o777);
  return path;
};
