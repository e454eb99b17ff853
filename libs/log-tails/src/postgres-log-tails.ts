import pg from 'pg';
import { LogTails, type KeptLogTail, type LogTail } from './log-tails.js';

/** How to reach the table `log_tail`. */
export type PostgresLogTailsOptions = {
  readonly connectionString: string;
  readonly applicationName: string;
  /** An idle connection broke; the next use opens another. */
  readonly onIdleError?: (error: Error) => void;
};

/** Few, and none that a check uses: uploads wait for each other and for nobody else (O13). */
const CONNECTIONS = 2;
/** Of the server, and a little more for one that has gone silent. Milliseconds. */
const STATEMENT_TIMEOUT = 10_000;
const SILENT_AFTER = 12_000;

/** The tails in Postgres, outside the record. */
export class PostgresLogTails extends LogTails {
  private readonly pool: pg.Pool;
  private closing: Promise<void> | null = null;

  constructor({ connectionString, applicationName, onIdleError = () => undefined }: PostgresLogTailsOptions) {
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

  override async keep({ machine, stamp, bytes }: LogTail): Promise<void> {
    await this.pool.query(
      'insert into log_tail (machine, stamp, bytes) values ($1, $2, $3) on conflict (machine, stamp) do nothing',
      [machine, stamp, bytes],
    );
  }

  override async read(machine: string, stamp: string): Promise<KeptLogTail | null> {
    const { rows } = await this.pool.query<{ received_at: Date; bytes: Buffer }>(
      'select received_at, bytes from log_tail where machine = $1 and stamp = $2',
      [machine, stamp],
    );
    const [row] = rows;
    return row ? { machine, stamp, bytes: row.bytes, receivedAt: row.received_at.getTime() } : null;
  }

  override async discard(machine: string, stamp: string): Promise<void> {
    await this.pool.query('delete from log_tail where machine = $1 and stamp = $2', [machine, stamp]);
  }

  override async discardBefore(machine: string, stamp: string): Promise<void> {
    await this.pool.query('delete from log_tail where machine = $1 and stamp < $2', [machine, stamp]);
  }

  override async forget(machine: string): Promise<void> {
    await this.pool.query('delete from log_tail where machine = $1', [machine]);
  }

  /** Removes what a deletion left behind, where whoever carried it out did not come to its end. To be called at a start. */
  async forgetDeleted(): Promise<void> {
    await this.pool.query(
      `delete from log_tail tail using event
       where event.stream = ('machine-' || tail.machine) collate "C" and event.type = 'MachineDeleted'`,
    );
  }

  /** Ends its connections, once: whoever owns an instance may end it twice, as it may the record. */
  close(): Promise<void> {
    this.closing ??= this.pool.end();
    return this.closing;
  }
}
