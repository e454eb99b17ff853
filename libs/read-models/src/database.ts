import { Socket } from 'node:net';
import { Kysely, PostgresDialect, sql, type RawBuilder } from 'kysely';
import { Pool } from 'pg';
import type { ReadModelTables } from './tables.js';

/** The read models' side of the database. `destroy()` ends its connections. */
export type ReadModelDatabase = Kysely<ReadModelTables>;

/** How to reach the read models. */
export type ReadModelDatabaseOptions = {
  readonly connectionString: string;
  /** Connections. (Default: 4) */
  readonly connections?: number;
  /** Milliseconds to wait for a connection. (Default: 5,000) */
  readonly connectionTimeout?: number;
  /** Milliseconds without a byte after which a server that owes an answer counts as gone. (Default: 70,000, longer than a statement) */
  readonly silentAfter?: number;
  /** An idle connection broke, for example because the database went away; the next use opens another. */
  readonly onIdleError?: (error: Error) => void;
};

const STATEMENT_TIMEOUT_MS = 60_000;

/** Ends itself when nothing came or went for a while; the pool has ended an idle one long before. */
const impatientSocket = (milliseconds: number): Socket => {
  const socket = new Socket();
  const silent = (): Error => Object.assign(new Error('PostgreSQL went silent'), { code: 'ETIMEDOUT' });
  return socket.setTimeout(milliseconds, () => socket.destroy(silent()));
};

/** Opens a pool for read models. Nothing is connected before the first use. */
export const openReadModels = (options: ReadModelDatabaseOptions): ReadModelDatabase => {
  const pool = new Pool({
    connectionString: options.connectionString,
    max: options.connections ?? 4,
    connectionTimeoutMillis: options.connectionTimeout ?? 5_000,
    application_name: 'rollcall read models',
    keepAlive: true,
    // A process that is stopped inside a transaction must not hold its row locks for ever.
    idle_in_transaction_session_timeout: 10_000,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    stream: () => impatientSocket(options.silentAfter ?? STATEMENT_TIMEOUT_MS + 10_000),
  });
  // Without a listener a connection that breaks ends the process: an idle one tells the pool, one in use tells only itself, and
  // the query that used it, or the next one, fails.
  pool.on('error', (error) => options.onIdleError?.(error));
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Kysely<ReadModelTables>({ dialect: new PostgresDialect({ pool }) });
};

/** Rows of a table out of one parameter, however many there are, so that every size of batch is the same statement. */
export const rowsOf = <Table extends keyof ReadModelTables>(
  table: Table,
  columns: readonly (keyof ReadModelTables[Table] & string)[],
  rows: readonly { readonly [Column in keyof ReadModelTables[Table]]: unknown }[],
): RawBuilder<unknown> =>
  sql`select ${sql.join(columns.map((column) => sql.ref(column)))} from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::json)`;
