import { migrate, type MigrateOptions } from '@rollcall/migrations';

/** Runs what is pending; one line per migration, or one that says that there is nothing to do. */
export const runMigrations = async (options: MigrateOptions): Promise<readonly string[]> => {
  const ran = await migrate(options);
  return ran.length === 0 ? ['The database is up to date.'] : ran.map((migration) => `ran ${migration}`);
};
