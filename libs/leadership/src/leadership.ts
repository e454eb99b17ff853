import { SystemClock, type Clock } from '@rollcall/lifetimes';
import { LockSession } from './lock-session.js';

/** Where a leader tells what happens to it; a pino logger is one. */
export type LeadershipLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** How to lead. All times are in milliseconds. */
export type LeadershipOptions = {
  readonly connectionString: string;
  readonly log: LeadershipLog;
  /** Shown in `pg_stat_activity`, with the name that is led after it. (Default: rollcall) */
  readonly applicationName?: string;
  /** Between two attempts to become the leader. (Default: 1,000) */
  readonly campaignEvery?: number;
  /** Between two signs of life of the leader. (Default: 2,000) */
  readonly pingEvery?: number;
  /** After which an answer of the server comes too late. (Default: 3,000) */
  readonly answerWithin?: number;
  /** Without a sign of life after which the server ends the leader's session; longer than the two before together. (Default: 10,000) */
  readonly idleTimeout?: number;
  readonly clock?: Clock;
};

/** Whether this process is at work under a name, or another one is; `unknown` while the database has not told. */
export type LeadershipStatus = 'leading' | 'waiting' | 'unknown';

/**
 * Lets one process of many do a piece of work: the one whose session holds the advisory lock of its name. The others take over when
 * the leader ends, loses its connection, or is stopped for longer than the idle timeout.
 *
 * It is an economy, not a fence. A process that was stopped goes on for a moment beside its successor before it finds its connection
 * gone, so the work itself has to bear two of itself: the relay's cursor and the checkpoints of the read models move by
 * compare-and-set.
 *
 * Each name has a connection of its own: a loop that owns its connection shares its fate with nobody, and the names are few.
 */
export class Leadership {
  readonly #options: Required<LeadershipOptions>;
  readonly #status = new Map<string, LeadershipStatus>();

  constructor(options: LeadershipOptions) {
    this.#options = {
      applicationName: 'rollcall',
      campaignEvery: 1_000,
      pingEvery: 2_000,
      answerWithin: 3_000,
      idleTimeout: 10_000,
      clock: new SystemClock(),
      ...options,
    };
  }

  status(name: string): LeadershipStatus {
    return this.#status.get(name) ?? 'unknown';
  }

  /**
   * Waits until this process leads under that name, does the work, and campaigns again when leadership was lost or the work has
   * returned, until `signal` aborts.
   *
   * @param work is given a signal that aborts as soon as leadership is lost, and is waited for
   * @throws what `work` throws, and nothing that a database or a network does
   */
  async whileLeading(name: string, work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, campaignEvery } = this.#options;
    while (!signal.aborted) {
      const session = await this.#campaign(name, signal);
      if (session === null) return;
      try {
        await this.#lead(name, session, work, signal);
      } finally {
        await session.close();
      }
      await clock.sleep(campaignEvery, signal);
    }
  }

  /** A session that holds the lock; null when there is no need for one any more. */
  async #campaign(name: string, signal: AbortSignal): Promise<LockSession | null> {
    const { connectionString, applicationName, campaignEvery, clock, log } = this.#options;
    const patience = { idle: this.#options.idleTimeout, answer: this.#options.answerWithin };
    let session: LockSession | null = null;
    let failure: string | null = null;
    while (!signal.aborted) {
      try {
        session ??= await LockSession.open(connectionString, `${applicationName} ${name} leader`, patience);
        if (await session.tryLock(name)) return session;
        this.#status.set(name, 'waiting');
        failure = null;
      } catch (error) {
        await session?.close();
        session = null;
        this.#status.delete(name);
        const message = error instanceof Error ? error.message : String(error);
        if (message !== failure) log.warn({ work: name, err: error }, 'cannot find out who leads; trying again');
        failure = message;
      }
      await clock.sleep(campaignEvery, signal);
    }
    await session?.close();
    return null;
  }

  async #lead(
    name: string,
    session: LockSession,
    work: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { log } = this.#options;
    const over = AbortSignal.any([signal, session.lost]);
    // Work that begins after its end would wait for it for ever.
    if (over.aborted) return;
    const done = new AbortController();
    const staying = this.#stayAlive(session, AbortSignal.any([over, done.signal]));
    this.#status.set(name, 'leading');
    log.info({ work: name }, 'leading');
    const abandoned = (): void => {
      this.#status.delete(name);
      log.warn({ work: name, err: session.lost.reason as unknown }, 'not leading any more');
    };
    session.lost.addEventListener('abort', abandoned, { once: true });
    try {
      await work(over);
    } finally {
      session.lost.removeEventListener('abort', abandoned);
      this.#status.delete(name);
      done.abort();
      await staying;
    }
  }

  async #stayAlive(session: LockSession, signal: AbortSignal): Promise<void> {
    const { clock, pingEvery, idleTimeout } = this.#options;
    let lastSign = clock.monotonic();
    for (;;) {
      await clock.sleep(pingEvery, signal);
      if (signal.aborted) return;
      const now = clock.monotonic();
      // This process did not run for a while: another one leads by now, whatever the connection still says.
      if (now - lastSign > idleTimeout) session.lose(new Error('The last sign of life is too long ago'));
      else await session.ping();
      lastSign = now;
    }
  }
}
