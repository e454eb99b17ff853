import type { Json } from '@rollcall/decider';
import pg from 'pg';
import { Attempts, type AttemptRule } from './attempts.js';

/** How to reach the table `attempt`. */
export type PostgresAttemptsOptions = {
  readonly connectionString: string;
  readonly applicationName: string;
  /** An idle connection broke; the next use opens another. */
  readonly onIdleError?: (error: Error) => void;
};

/** Few: who tries something too often waits for others who do, and for nobody else. */
const CONNECTIONS = 2;
/** Of the server, and a little more for one that has gone silent. Milliseconds. */
const STATEMENT_TIMEOUT = 5_000;
const SILENT_AFTER = 6_000;

const NOW = '(extract(epoch from clock_timestamp()) * 1000)::float8';
const READ = `select ${NOW} as now, (select to_jsonb(a) from attempt a where key = $1) as row`;
/** Only on top of what the rule was asked about. Each new key takes some with it that nobody has tried for an hour. */
const WRITE = `
  with over as (
    delete from attempt where $3 = 0 and key in (
      select key from attempt where counted_at < now() - interval '1 hour' and key <> $1 limit 20 for update skip locked
    )
  )
  insert into attempt (key, memory) values ($1, $2)
  on conflict (key) do update set memory = excluded.memory, times = attempt.times + 1, counted_at = now() where attempt.times = $3`;

/** Attempts in Postgres. No transaction is open while a rule is asked. */
export class PostgresAttempts extends Attempts {
  private readonly pool: pg.Pool;
  private closing: Promise<void> | null = null;
  /** The newest turn of each key: those of one process come one after the other, so that only instances meet. */
  private readonly turns = new Map<string, Promise<unknown>>();

  constructor({ connectionString, applicationName, onIdleError = () => undefined }: PostgresAttemptsOptions) {
    super();
    this.pool = new pg.Pool({
      connectionString,
      application_name: applicationName,
      max: CONNECTIONS,
      connectionTimeoutMillis: 5_000,
      statement_timeout: STATEMENT_TIMEOUT,
      query_timeout: SILENT_AFTER,
      keepAlive: true,
    });
    // Without a listener an idle connection that breaks ends the process.
    this.pool.on('error', onIdleError);
  }

  override count<Memory extends Json, Answer>(key: string, rule: AttemptRule<Memory, Answer>): Promise<Answer> {
    const counted = (this.turns.get(key) ?? Promise.resolve()).then(() => this.countNow(key, rule));
    const turn = counted
      .catch(() => undefined)
      .then(() => {
        if (this.turns.get(key) === turn) this.turns.delete(key);
      });
    this.turns.set(key, turn);
    return counted;
  }

  private async countNow<Memory extends Json, Answer>(key: string, rule: AttemptRule<Memory, Answer>): Promise<Answer> {
    for (;;) {
      const { rows } = await this.pool.query<{ now: number; row: { memory: Memory; times: number } | null }>(READ, [
        key,
      ]);
      const [{ now, row } = { now: Number.NaN, row: null }] = rows;
      const { memory, answer } = rule(row?.memory ?? null, now);
      const { rowCount } = await this.pool.query(WRITE, [key, JSON.stringify(memory), row?.times ?? 0]);
      if (rowCount === 1) return answer;
    }
  }

  /** Ends the connections, once: whoever owns an instance may end it twice. */
  close(): Promise<void> {
    this.closing ??= this.pool.end();
    return this.closing;
  }
}
