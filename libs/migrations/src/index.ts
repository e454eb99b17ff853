export { migrate, pendingMigrations, readMigrations } from './migrate.js';
export type { MigrateOptions, MigrationFile } from './migrate.js';
