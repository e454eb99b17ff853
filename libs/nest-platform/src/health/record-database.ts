import type { EventStore } from '@rollcall/event-store';
import { pendingMigrations } from '@rollcall/migrations';
import type { ReadinessCheck } from './health.module.js';

/** `postgres://…` of the application role, and the folder of migrations that must have run there. */
export type RecordDatabase = { readonly url: string; readonly migrations: string };

/** @throws Error naming the migrations that the database has not run. */
export const requireMigrations = async ({ url, migrations }: RecordDatabase): Promise<void> => {
  const pending = await pendingMigrations({ connectionString: url, directory: migrations });
  if (pending.length > 0) throw new Error(`The database has not run these migrations: ${pending.join(', ')}`);
};

/** An instance is ready while it reaches the record and the record has the shape that it was built for. */
export const recordReadiness = (store: EventStore, database: RecordDatabase): readonly ReadinessCheck[] => [
  { name: 'database', check: () => store.newest().then(() => undefined) },
  { name: 'migrations', check: () => requireMigrations(database) },
];
