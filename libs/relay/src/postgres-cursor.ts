import { Pool, type QueryResultRow } from 'pg';
import type { FeedPlace } from '@rollcall/feed';
import { RelayCursor } from './cursor.js';

/** How to reach the cursor. */
export type PostgresRelayCursorOptions = {
  readonly connectionString: string;
  /** Milliseconds after which the server's answer counts as lost. (Default: 4,000) */
  readonly answerWithin?: number;
};

/** The cursor in the table `relay_cursor`. Nothing is connected before the first use. */
export class PostgresRelayCursor extends RelayCursor {
  readonly #pool: Pool;

  constructor({ connectionString, answerWithin = 4_000 }: PostgresRelayCursorOptions) {
    super();
    this.#pool = new Pool({
      connectionString,
      application_name: 'rollcall relay',
      max: 1,
      keepAlive: true,
      connectionTimeoutMillis: answerWithin,
      query_timeout: answerWithin,
    });
    this.#pool.on('error', () => undefined); // an idle connection broke; the pool has dropped it
  }

  override async read(): Promise<FeedPlace | null> {
    const { rows } = await this.#query<{ epoch: string; number: string }>('select epoch, number from relay_cursor', []);
    const [row] = rows;
    return row ? { epoch: row.epoch, number: BigInt(row.number) } : null;
  }

  override async move(from: FeedPlace | null, to: FeedPlace): Promise<boolean> {
    const { rowCount } = from
      ? await this.#query(
          `update relay_cursor set epoch = $3, number = $4, moved_at = clock_timestamp() where epoch = $1 and number = $2`,
          [from.epoch, from.number, to.epoch, to.number],
        )
      : await this.#query('insert into relay_cursor (epoch, number) values ($1, $2) on conflict (one) do nothing', [
          to.epoch,
          to.number,
        ]);
    return rowCount === 1;
  }

  /** Ends its connection. */
  close(): Promise<void> {
    return this.#pool.end();
  }

  #query<Row extends QueryResultRow>(text: string, values: readonly unknown[]) {
    return this.#pool.query<Row>(text, [...values]);
  }
}
