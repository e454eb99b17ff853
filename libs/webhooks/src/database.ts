import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import type { WebhookDatabase, WebhookTables } from './tables.js';

/** How to reach the webhooks' tables and their job queue. */
export type WebhookDatabaseOptions = {
  readonly connectionString: string;
  readonly applicationName: string;
  /** (Default: 4) */
  readonly connections?: number;
  /** An idle connection broke; the next use opens another. */
  readonly onIdleError?: (error: Error) => void;
};

/** Of the server, and a little more for one that has gone silent. Milliseconds. */
const STATEMENT_TIMEOUT = 10_000;
const SILENT_AFTER = 12_000;

/** Opens a pool. Nothing is connected before the first use. */
export const openWebhooks = ({
  connectionString,
  applicationName,
  connections = 4,
  onIdleError = () => undefined,
}: WebhookDatabaseOptions): WebhookDatabase => {
  const pool = new Pool({
    connectionString,
    application_name: applicationName,
    max: connections,
    connectionTimeoutMillis: 5_000,
    statement_timeout: STATEMENT_TIMEOUT,
    query_timeout: SILENT_AFTER,
    // A process that is stopped inside a transaction must not hold its row locks for ever.
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT,
    keepAlive: true,
  });
  // Without a listener a connection that breaks ends the process; the query that used it fails all the same.
  pool.on('error', onIdleError);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Kysely<WebhookTables>({ dialect: new PostgresDialect({ pool }) });
};
