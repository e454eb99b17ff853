import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator, type Migration, type MigrationProvider } from 'kysely/migration';
import pg from 'pg';
import { migrateJobQueue } from './job-queue.js';

/** A migration as it lies in `infra/migrations`: `NNNN_what.sql`, frozen once landed. */
export type MigrationFile = {
  readonly name: string;
  readonly sql: string;
  /** Whether instances of the version before must be stopped first; the file's first line says so. */
  readonly breaking: boolean;
  /** SHA-256 of the file, hex; compared with what was run. */
  readonly hash: string;
};

/** Reads a folder of migrations in order. @throws Error that names the file when a name or a first line is not as agreed. */
export const readMigrations = async (directory: string): Promise<readonly MigrationFile[]> => {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (file) => {
      const text = await readFile(join(directory, file), 'utf8');
      if (!/^\d{4}_[a-z0-9_]+\.sql$/.test(file)) throw new Error(`${file}: a migration is named NNNN_what.sql`);
      const breaking = /^-- breaking: (yes|no)\n/.exec(text)?.[1];
      if (!breaking)
        throw new Error(`${file}: the first line of a migration is "-- breaking: yes" or "-- breaking: no"`);
      const hash = createHash('sha256').update(text).digest('hex');
      return { name: file.slice(0, -'.sql'.length), sql: text, breaking: breaking === 'yes', hash };
    }),
  );
};

/** Which database, and which folder of migrations. */
export type MigrateOptions = {
  /** A role that owns the schema: `postgres://…`. */
  readonly connectionString: string;
  readonly directory: string;
};

/**
 * Brings a database up to date, and the schema of the job queue with it; safe to run twice and at the same time (the runner takes a lock).
 *
 * @returns the names of the migrations that were run; `pgboss_N` for the job queue's own, up to its version N.
 * @throws Error when a migration that was run has been changed since, or when one fails; a failed one leaves nothing behind.
 */
export const migrate = async ({ connectionString, directory }: MigrateOptions): Promise<readonly string[]> => {
  const files = await readMigrations(directory);
  const ran = await withDatabase(connectionString, async (db) => {
    await sql`create table if not exists migration_hash (name text primary key, hash text not null)`.execute(db);
    await refuseChanged(db, files);
    const { error, results } = await new Migrator({ db, provider: providerOf(files) }).migrateToLatest();
    if (error) throw error instanceof Error ? error : new Error('A migration failed', { cause: error });
    return (results ?? []).filter((result) => result.status === 'Success').map((result) => result.migrationName);
  });
  const queue = await migrateJobQueue(connectionString);
  return queue === null ? ran : [...ran, queue];
};

/** The names of migrations in the folder that the database has not run. A database that knows none has all of them pending. */
export const pendingMigrations = async ({
  connectionString,
  directory,
}: MigrateOptions): Promise<readonly string[]> => {
  const files = await readMigrations(directory);
  return withDatabase(connectionString, async (db) => {
    const { rows } = await sql<{ there: boolean }>`select to_regclass('kysely_migration') is not null as there`.execute(
      db,
    );
    if (!rows[0]?.there) return files.map((file) => file.name);
    const done = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    const names = new Set(done.rows.map((row) => row.name));
    return files.map((file) => file.name).filter((name) => !names.has(name));
  });
};

const providerOf = (files: readonly MigrationFile[]): MigrationProvider => ({
  getMigrations: () =>
    Promise.resolve(
      Object.fromEntries(
        files.map((file): [string, Migration] => [
          file.name,
          {
            up: async (db) => {
              await sql.raw(file.sql).execute(db);
              await sql`insert into migration_hash (name, hash) values (${file.name}, ${file.hash})`.execute(db);
            },
          },
        ]),
      ),
    ),
});

const refuseChanged = async (db: Kysely<unknown>, files: readonly MigrationFile[]): Promise<void> => {
  const { rows } = await sql<{ name: string; hash: string }>`select name, hash from migration_hash`.execute(db);
  const ran = new Map(rows.map((row) => [row.name, row.hash]));
  const changed = files.filter((file) => ran.has(file.name) && ran.get(file.name) !== file.hash);
  if (changed.length > 0)
    throw new Error(`Changed after it was run: ${changed.map((file) => `${file.name}.sql`).join(', ')}`);
};

const withDatabase = async <Result>(
  connectionString: string,
  work: (db: Kysely<unknown>) => Promise<Result>,
): Promise<Result> => {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString, max: 2 }) }) });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
};
