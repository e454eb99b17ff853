import pg from 'pg';
import type { Subject } from './finding.js';

/** A connection that reads times and rows as the same text wherever it runs. */
export type DatabaseClient = { readonly rows: Subject['rows']; close(): Promise<void> };

/** @throws Error when the database cannot be reached. */
export const connect = async (connectionString: string): Promise<DatabaseClient> => {
  const client = new pg.Client({
    connectionString,
    application_name: 'rollcall-verify',
    connectionTimeoutMillis: 5_000,
  });
  await client.connect();
  await client.query(`set TimeZone = 'UTC'; set DateStyle = 'ISO'`);
  return {
    rows: async <Row extends object>(statement: string, values?: readonly unknown[]) =>
      (await client.query(statement, values && [...values])).rows as Row[],
    close: () => client.end().catch(() => undefined),
  };
};
