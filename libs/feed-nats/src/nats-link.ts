import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { SystemClock, withDeadline } from '@rollcall/lifetimes';
import { readCredentials } from './credentials.js';
import { inWords } from './nats-errors.js';
import { inboxPrefix, type NatsRole } from './rights.js';

/** Where a link goes, and as whom. */
export type LinkOptions = {
  /** `nats://…` or `tls://…`, one or several of one cluster. */
  readonly servers: readonly string[];
  readonly role: NatsRole;
  /** Owner-only file with one line `user:password`; null where the server asks for none. */
  readonly credentialsFile: string | null;
  /** PEM file with the authority of the servers' certificates; null for those of the system. */
  readonly caFile: string | null;
  /** Told once per change, in a sentence without secrets. */
  readonly tell: (sentence: string) => void;
};

/** A connection while it is up. After a loss there is another one, and what was under way on this one is unknown. */
export type NatsSession = {
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** The most bytes that the server takes in a message. */
  readonly payloadLimit: number;
  /** Aborted when the connection is lost or closed. */
  readonly over: AbortSignal;
};

/** Milliseconds between two tries, plus up to as many again as `spread`, so that instances do not come all at once. */
const RECONNECT = { wait: 2_000, spread: 1_000 };
const CONNECT_WITHIN = 5_000;
/** For one question to the server about streams and consumers. */
const ANSWER_WITHIN = 5_000;
const CLOSE_WITHIN = 2_000;

const clock = new SystemClock();

/** A connection to NATS that is tried again for ever, and says whether it is there. */
export class NatsLink {
  readonly #closing = new AbortController();
  readonly #waiting = new Set<() => void>();
  #connection: NatsConnection | null = null;
  #session: (NatsSession & { readonly end: AbortController }) | null = null;
  #problem: string | null = null;
  #connections = 0;
  readonly #loop: Promise<void>;

  private constructor(private readonly options: LinkOptions) {
    this.#loop = this.#keepConnected();
  }

  /**
   * Begins to connect, and does not wait for it.
   *
   * @throws Error when the credentials cannot be read
   */
  static async open(options: LinkOptions): Promise<NatsLink> {
    if (options.credentialsFile !== null) await readCredentials(options.credentialsFile);
    return new NatsLink(options);
  }

  /** The connection while it is up, else null. */
  get session(): NatsSession | null {
    return this.#session;
  }

  /** How often it was up. */
  get connections(): number {
    return this.#connections;
  }

  /** Why it is not up; null while it is, or when nobody knows yet. */
  get problem(): string | null {
    return this.#problem;
  }

  /** The session, as soon as there is one; null when the signal is aborted or the link closed first. */
  async whenUp(signal: AbortSignal): Promise<NatsSession | null> {
    while (this.#session === null && !signal.aborted && !this.#closing.signal.aborted)
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#waiting.add(wake);
        signal.addEventListener('abort', wake, { once: true });
      });
    return signal.aborted ? null : this.#session;
  }

  /** Sends what is under way where the server takes it, and ends the connection; never longer than two seconds. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    const connection = this.#connection;
    if (connection) {
      // A drain waits for the server's answer: for ever, where none comes.
      if (this.#session !== null)
        await withDeadline(clock, CLOSE_WITHIN, () => connection.drain()).catch(() => undefined);
      await connection.close().catch(() => undefined);
    }
    this.#down();
    for (const wake of this.#waiting) wake();
    await withDeadline(clock, CLOSE_WITHIN, () => this.#loop).catch(() => undefined);
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const connection = await this.#connect();
        this.#connection = connection;
        if (signal.aborted) return await connection.close();
        await this.#watch(connection);
      } catch (error) {
        this.#note(inWords(error));
      }
      this.#connection = null;
      this.#down();
      await clock.sleep(RECONNECT.wait + Math.random() * RECONNECT.spread, signal);
    }
  }

  async #connect(): Promise<NatsConnection> {
    const { servers, role, credentialsFile, caFile } = this.options;
    const isTls = servers.some((server) => server.startsWith('tls:'));
    return connect({
      servers: [...servers],
      name: `rollcall ${role}`,
      inboxPrefix: inboxPrefix(role),
      // Read for each connection: they may have been renewed.
      ...(credentialsFile === null ? {} : await readCredentials(credentialsFile)),
      ...(isTls || caFile !== null ? { tls: caFile === null ? {} : { caFile } } : {}),
      timeout: CONNECT_WITHIN,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT.wait,
      reconnectJitter: RECONNECT.spread,
      reconnectJitterTLS: RECONNECT.spread,
      pingInterval: 20_000,
      maxPingOut: 2,
      noAsyncTraces: true,
    });
  }

  /** Follows a connection until it is closed: by us, or by the client because it is no longer let in. */
  async #watch(connection: NatsConnection): Promise<void> {
    await this.#up(connection);
    for await (const status of connection.status()) {
      if (status.type === 'reconnect') await this.#up(connection);
      else if (status.type === 'disconnect') this.#lost('The connection is lost');
      else if (status.type === 'staleConnection') this.#lost('The server does not answer any more');
      else if (status.type === 'error') this.options.tell(`NATS (${this.options.role}): ${inWords(status.error)}`);
    }
    const error = await connection.closed();
    if (error) throw error;
  }

  async #up(connection: NatsConnection): Promise<void> {
    this.#down();
    const end = new AbortController();
    const manager = await jetstreamManager(connection, { timeout: ANSWER_WITHIN, checkAPI: false });
    const payloadLimit = connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    this.#session = { jetstream: jetstream(connection), manager, payloadLimit, over: end.signal, end };
    this.#connections += 1;
    this.#problem = null;
    this.options.tell(`NATS (${this.options.role}): connected`);
    for (const wake of this.#waiting) wake();
  }

  #lost(why: string): void {
    this.#down();
    if (!this.#closing.signal.aborted) this.#note(why);
  }

  #down(): void {
    this.#session?.end.abort();
    this.#session = null;
  }

  #note(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.options.tell(`NATS (${this.options.role}): ${problem}`);
  }
}

/** The work's outcome; when the signal is aborted first, a failure: what was under way is unknown, and is not waited for. */
export const unlessOver = async <Result>(over: AbortSignal, work: Promise<Result>): Promise<Result> => {
  let stop = (): void => undefined;
  const lost = new Promise<never>((_, reject) => {
    stop = () => reject(new Error('The connection was lost'));
    over.addEventListener('abort', stop, { once: true });
    if (over.aborted) stop();
  });
  try {
    return await Promise.race([work, lost]);
  } finally {
    over.removeEventListener('abort', stop);
  }
};
