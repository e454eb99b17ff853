import { setTimeout as wait } from 'node:timers/promises';
import { Owner } from './owner.js';

/** What the sessions of a database were seen doing. */
export type SeenSessions = {
  /** The most at once, of a plane's own. */
  readonly most: number;
  /** By application: the longest that one was idle in a transaction, in milliseconds. */
  readonly idleInTransaction: Readonly<Record<string, number>>;
};

/** Looks at the sessions of a database until `end`, also across an end of its server. */
export class Sessions implements AsyncDisposable {
  readonly #over = new AbortController();
  readonly #watching: Promise<void>;
  readonly #idle: Record<string, number> = {};
  #most = 0;

  private constructor(private readonly ownerUrl: string) {
    this.#watching = this.#watch();
  }

  static watch(ownerUrl: string): Sessions {
    return new Sessions(ownerUrl);
  }

  async end(): Promise<SeenSessions> {
    this.#over.abort();
    await this.#watching;
    return { most: this.#most, idleInTransaction: this.#idle };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      // While the server is away there is nothing to see.
      await this.#look().catch(() => undefined);
      await wait(100);
    }
  }

  async #look(): Promise<void> {
    await using owner = await Owner.connect(this.ownerUrl);
    while (!this.#over.signal.aborted) {
      const rows = await owner.rows<{ name: string; sessions: number; idle: number | null }>(
        `select application_name as name, count(*)::integer as sessions,
           max(extract(epoch from clock_timestamp() - state_change) * 1000) filter (where state like 'idle in transaction%')::float8 as idle
         from pg_stat_activity where datname = current_database() and application_name like 'rollcall%' group by 1`,
      );
      this.#most = Math.max(
        this.#most,
        rows.reduce((sum, { sessions }) => sum + sessions, 0),
      );
      for (const { name, idle } of rows) if (idle !== null) this.#idle[name] = Math.max(idle, this.#idle[name] ?? 0);
      await wait(100);
    }
  }
}
