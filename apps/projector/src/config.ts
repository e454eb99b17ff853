import { readConfig, LOG_LEVELS, type Environment, type LogLevel } from '@rollcall/nest-platform';

/** What the projector needs to know. */
export type ProjectorConfig = {
  /** The record and the read models, as the application role. */
  readonly databaseUrl: string;
  /** Where the migrations lie that the database must have run. */
  readonly migrations: string;
  /** Of the health listener on 127.0.0.1; 0 lets the system choose. */
  readonly port: number;
  /** Two neighbouring batches further apart than this many seconds show that the plane was deaf in between (B1). */
  readonly gapSeconds: number;
  readonly logLevel: LogLevel;
};

/**
 * Reads the settings once: `ROLLCALL_DATABASE_URL`, `ROLLCALL_MIGRATIONS_DIR` (Default: infra/migrations), `ROLLCALL_PROJECTOR_PORT`
 * (Default: 8445), `ROLLCALL_GAP_SECONDS` (Default: 15) and `ROLLCALL_LOG_LEVEL` (Default: info).
 *
 * @throws ConfigError naming every problem at the same time
 */
export const readProjectorConfig = (environment: Environment): ProjectorConfig =>
  readConfig(environment, (settings) => ({
    databaseUrl: settings.url('ROLLCALL_DATABASE_URL', ['postgres:', 'postgresql:']),
    migrations: settings.text('ROLLCALL_MIGRATIONS_DIR', 'infra/migrations'),
    port: settings.port('ROLLCALL_PROJECTOR_PORT', 8_445),
    // A mark comes after five seconds without an append, so less than that would call every quiet night deaf; tests do.
    gapSeconds: settings.number('ROLLCALL_GAP_SECONDS', { min: 0.001, max: 3_600, default: 15 }),
    logLevel: settings.oneOf('ROLLCALL_LOG_LEVEL', LOG_LEVELS, 'info'),
  }));
