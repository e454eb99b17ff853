import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { Lifetime, SystemClock } from '@rollcall/lifetimes';
import { ensurePrivateDirectory, readPrivateFile, writePrivateFile } from '@rollcall/secret-file';
import { findNatsServer, type NatsServer } from './find-nats-server.js';
import { endProcessesOf } from './left-behind.js';

/** Who may come in, and what it may do there: subjects, with wildcards. Nothing else is allowed. */
export type NatsUser = {
  readonly name: string;
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
};

/** Where a server lives, where it listens, and for whom. */
export type NatsOptions = {
  /** Where it lives: `nats-server.conf`, `<user>.credentials`, `store/`, `nats.log`. Made when absent; owner-only. */
  readonly directory: string;
  /** TCP port on 127.0.0.1. @throws NatsPortTaken at `open` */
  readonly port: number;
  /** (Default: one user `rollcall` that may do anything) */
  readonly users?: readonly NatsUser[];
  /** The program. (Default: what `findNatsServer` finds) */
  readonly program?: NatsServer;
  /** Told when the server ended by itself; it is started again. */
  readonly onUnexpectedEnd?: (how: string) => void;
};

/** Somebody else listens on the port. */
export class NatsPortTaken extends Error {
  override readonly name = 'NatsPortTaken';
  constructor(readonly port: number) {
    super(`Port ${port} on 127.0.0.1 is taken`);
  }
}

const EVERYTHING: readonly NatsUser[] = [{ name: 'rollcall', publish: ['>'], subscribe: ['>'] }];
const CONFIG = 'nats-server.conf';
// An explicit limit: without one the server reserves most of what is free on the disk, and refuses streams where that is little.
const STORE_BYTES = 4 * 1024 ** 3;
const READY_WITHIN_MS = 20_000;
const LOOK_MS = 20;
const STOP_MS = 3_000;
const RESTART_MS = { first: 200, longest: 5_000, steadyAfter: 10_000 };

const clock = new SystemClock();

/**
 * A nats-server with JetStream, as a child in a session of its own: the Ctrl-C of a terminal does not reach it, so the order of a
 * shutdown is ours. It listens on the loopback only, and only for the users that it was opened with. When it ends by itself it is
 * started again; one that a `kill -9` of its owner left behind is ended by the next `open`.
 */
export class EmbeddedNats {
  #life: Lifetime | null = null;
  #child: ChildProcess | null = null;

  private constructor(
    private readonly program: NatsServer,
    private readonly options: NatsOptions,
    /** Tells this server from any other on the port. */
    private readonly serverName: string,
  ) {}

  /**
   * Writes the settings, ends what a killed run left behind, and starts the server. Resolves when it takes connections.
   *
   * @throws NatsPortTaken, or Error when there is no nats-server or it does not start
   */
  static async open(options: NatsOptions): Promise<EmbeddedNats> {
    const program = options.program ?? (await findNatsServer(process.env));
    if (program === null) throw new Error('There is no nats-server on this machine: apt install nats-server');
    const nats = new EmbeddedNats(program, options, `rollcall-${randomBytes(6).toString('hex')}`);
    await ensurePrivateDirectory(options.directory);
    await endProcessesOf(nats.#config, STOP_MS);
    await refuseTaken(options.port);
    await nats.#writeConfig();
    await nats.start();
    return nats;
  }

  /** Ends the server of a directory, if one was left behind there, without starting anything. */
  static stopAt(directory: string): Promise<void> {
    return endProcessesOf(join(directory, CONFIG), STOP_MS);
  }

  /** Where it takes connections, without a secret: `nats://127.0.0.1:<port>`. */
  get url(): string {
    return `nats://127.0.0.1:${this.options.port}`;
  }

  /** Where JetStream keeps what is published. To be touched by tests, while the server is down. */
  get storeDirectory(): string {
    return join(this.options.directory, 'store');
  }

  /** The owner-only file with one line `user:password`. */
  credentialsFile(user: string): string {
    return join(this.options.directory, `${user}.credentials`);
  }

  /** The process id; null while none runs. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Starts the server after `stop` or `kill`; `open` has done so already. Resolves when it takes connections. */
  async start(): Promise<void> {
    if (this.#life) return;
    const life = new Lifetime();
    this.#life = life;
    life.run((signal) => this.#keepRunning(signal));
    try {
      await this.#ready(life.signal);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Ends it: asks first, and does not ask again. Resolves when it is gone, or was not there. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** For tests: ends it without a chance to write anything. It stays down until `start`. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  get #config(): string {
    return join(this.options.directory, CONFIG);
  }

  get #log(): string {
    return join(this.options.directory, 'nats.log');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const life = this.#life;
    const child = this.#child;
    this.#life = null;
    const ended = life?.end();
    child?.kill(signal);
    const late = setTimeout(() => child?.kill('SIGKILL'), STOP_MS);
    await ended?.finally(() => clearTimeout(late));
    clearTimeout(late);
  }

  /** Runs one server after the other until it is told to stop, and returns when the last one is gone. */
  async #keepRunning(signal: AbortSignal): Promise<void> {
    let pause = RESTART_MS.first;
    while (!signal.aborted) {
      const startedAt = clock.monotonic();
      const how = await this.#runOnce();
      if (signal.aborted) return;
      this.options.onUnexpectedEnd?.(how);
      if (clock.monotonic() - startedAt > RESTART_MS.steadyAfter) pause = RESTART_MS.first;
      await clock.sleep(pause, signal);
      pause = Math.min(pause * 2, RESTART_MS.longest);
    }
  }

  async #runOnce(): Promise<string> {
    const log = openSync(this.#log, 'a', 0o600);
    const child = spawn(this.program.path, ['-c', this.#config], { detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    this.#child = child;
    try {
      const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
      return signal ? `signal ${signal}` : `exit code ${code}`;
    } catch (error) {
      return String(error);
    } finally {
      this.#child = null;
    }
  }

  async #ready(signal: AbortSignal): Promise<void> {
    const until = clock.monotonic() + READY_WITHIN_MS;
    // It greets as soon as its store is open, and only then.
    while ((await greeting(this.options.port)) !== this.serverName) {
      if (clock.monotonic() > until || this.#child === null) {
        const tail = (await readFile(this.#log, 'utf8').catch(() => '')).split('\n').slice(-6).join('\n');
        throw new Error(`The nats-server did not start in ${this.options.directory}:\n${tail}`);
      }
      await clock.sleep(LOOK_MS, signal);
    }
  }

  async #writeConfig(): Promise<void> {
    const users = [];
    for (const { name, publish, subscribe } of this.options.users ?? EVERYTHING) {
      const permissions = { publish: { allow: publish }, subscribe: { allow: subscribe } };
      users.push({ user: name, password: await this.#passwordOf(name), permissions });
    }
    const config = {
      server_name: this.serverName,
      listen: `127.0.0.1:${this.options.port}`,
      // Named users, always: without any, whoever reaches the port is let in.
      authorization: { users },
      jetstream: { store_dir: this.storeDirectory, max_file_store: STORE_BYTES, max_memory_store: 0 },
    };
    await writePrivateFile(this.#config, JSON.stringify(config, null, 2), { durable: false });
  }

  /** Kept over restarts, for those who have read it. */
  async #passwordOf(user: string): Promise<string> {
    const path = this.credentialsFile(user);
    const kept = (await readPrivateFile(path))?.toString('utf8').trim() ?? '';
    const prefix = `${user}:`;
    if (kept.startsWith(prefix) && kept.length >= prefix.length + 24) return kept.slice(prefix.length);
    const password = randomBytes(24).toString('base64url');
    await writePrivateFile(path, `${prefix}${password}\n`);
    return password;
  }
}

/** The name that a server gives in its first line; null where nobody answers like one. */
const greeting = (port: number): Promise<string | null> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on('data', (chunk) => {
      text += String(chunk);
      if (text.includes('\r\n')) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(/"server_name":"([^"]*)"/.exec(text)?.[1] ?? null));
  });

const refuseTaken = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new NatsPortTaken(port) : error),
    );
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()));
  });
