import pg from 'pg';
import { PgBoss } from 'pg-boss';

/** What the schema of the job queue is called, in messages and in the database. */
const SCHEMA = 'pgboss';

/**
 * Lets pg-boss make its schema, or bring it to the version that is installed here; and lets the services use it. It is a schema of its
 * own, with migrations of its own, so none of it is in `infra/migrations`. Safe to run twice and at the same time: pg-boss takes a lock.
 *
 * @param connectionString of the role that owns the schema
 * @returns what was done, as the name of a migration; null when there was nothing to do
 */
export const migrateJobQueue = async (connectionString: string): Promise<string | null> => {
  const boss = new PgBoss({
    connectionString,
    schema: SCHEMA,
    max: 2,
    migrate: true,
    supervise: false,
    schedule: false,
    registerInstance: false,
    openTelemetry: { enabled: false },
  });
  let trouble: Error | null = null;
  boss.on('error', (error) => (trouble ??= error));
  const before = await versionOf(connectionString);
  await boss.start();
  await boss.stop({ graceful: false });
  if (trouble) throw trouble as Error;
  const after = await versionOf(connectionString);
  return before === after ? null : `${SCHEMA}_${after}`;
};

/** The version of the schema that is there, after the rights of the application role were given where it is; null where it is not. */
const versionOf = async (connectionString: string): Promise<number | null> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ there: boolean }>(
      `select to_regclass('${SCHEMA}.version') is not null as there`,
    );
    if (!rows[0]?.there) return null;
    await client.query(`
      grant usage on schema ${SCHEMA} to rollcall_app;
      grant select, insert, update, delete on all tables in schema ${SCHEMA} to rollcall_app;
      grant execute on all functions in schema ${SCHEMA} to rollcall_app`);
    const version = await client.query<{ version: number }>(`select version from ${SCHEMA}.version`);
    return version.rows[0]?.version ?? null;
  } finally {
    await client.end();
  }
};
