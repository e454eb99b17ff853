import type { CheckPolicy } from '@rollcall/machine';
import {
  LOG_LEVELS,
  readConfig,
  type Environment,
  type EnvironmentReader,
  type LogLevel,
} from '@rollcall/nest-platform';
import type { TlsSettings } from '@rollcall/plane-ca';
import { INTERVAL_CEILING_SECONDS, INTERVAL_DEFAULT_SECONDS, INTERVAL_FLOOR_SECONDS } from '@rollcall/wire';

/** What an instance of the machine API is told at its start. */
export type MachineApiConfig = {
  /** `postgres://…` of the application role, and the folder of migrations that must have run there. */
  readonly database: { readonly url: string; readonly migrations: string };
  readonly host: string;
  readonly port: number;
  readonly tls: TlsSettings;
  /** The key of the chain tokens; the instances of a plane share it. */
  readonly chainKeyFile: string;
  readonly policy: CheckPolicy;
  /** Milliseconds without an append after which the plane marks that it could have heard something (B1). */
  readonly markMs: number;
  readonly logLevel: LogLevel;
};

/** The setting that chooses the port. */
export const PORT_VARIABLE = 'ROLLCALL_MACHINE_API_PORT';

/** The name that its server certificate and its logs go by. */
export const APP_NAME = 'machine-api';

const WINDOW_FLOOR_SECONDS = 120;
const GAP_SECONDS = 15;
const MARK_SECONDS = 5;

/**
 * Reads the settings from the environment.
 *
 * @throws ConfigError naming every problem at the same time.
 */
export const readMachineApiConfig = (environment: Environment): MachineApiConfig =>
  readConfig(environment, (settings) => ({
    database: {
      url: settings.url('ROLLCALL_DATABASE_URL', ['postgres:', 'postgresql:']),
      migrations: settings.text('ROLLCALL_MIGRATIONS_DIR', 'infra/migrations'),
    },
    host: settings.text('ROLLCALL_MACHINE_API_HOST', '127.0.0.1'),
    port: settings.port(PORT_VARIABLE, 8443),
    tls: readTls(settings),
    chainKeyFile: settings.text('ROLLCALL_CHAIN_KEY_FILE'),
    policy: readPolicy(settings),
    markMs: readMark(settings) * 1000,
    logLevel: settings.oneOf('ROLLCALL_LOG_LEVEL', LOG_LEVELS, 'info'),
  }));

const readTls = (settings: EnvironmentReader): TlsSettings => {
  const certificateFile = settings.optionalText('ROLLCALL_TLS_CERT_FILE');
  const keyFile = settings.optionalText('ROLLCALL_TLS_KEY_FILE');
  if (certificateFile !== null && keyFile !== null) return { certificateFile, keyFile };
  if (certificateFile !== null || keyFile !== null)
    settings.problem('ROLLCALL_TLS_CERT_FILE and ROLLCALL_TLS_KEY_FILE belong together: set both, or none');
  return {
    directory: settings.text('ROLLCALL_CA_DIR'),
    name: APP_NAME,
    hosts: settings.list('ROLLCALL_TLS_HOSTS', ['localhost', '127.0.0.1', '::1']),
  };
};

const readPolicy = (settings: EnvironmentReader): CheckPolicy => {
  // Tests that cannot wait for two minutes say so; nobody gets a hot loop by a slip of the pen.
  const short = settings.flag('ROLLCALL_TEST_SHORT_WINDOWS');
  return {
    interval: settings.integer('ROLLCALL_INTERVAL_SECONDS', {
      min: short ? 1 : INTERVAL_FLOOR_SECONDS,
      max: INTERVAL_CEILING_SECONDS,
      default: INTERVAL_DEFAULT_SECONDS,
    }),
    windowFloor: settings.integer('ROLLCALL_WINDOW_FLOOR_SECONDS', {
      min: short ? 1 : WINDOW_FLOOR_SECONDS,
      max: 86_400,
      default: WINDOW_FLOOR_SECONDS,
    }),
  };
};

const readMark = (settings: EnvironmentReader): number => {
  const gap = settings.number('ROLLCALL_GAP_SECONDS', { min: 0.3, max: 3_600, default: GAP_SECONDS });
  const mark = settings.number('ROLLCALL_MARK_SECONDS', { min: 0.1, max: 1_200, default: MARK_SECONDS });
  // A mark comes up to half its time late; a plane that is merely idle must never look deaf to its readers.
  if (mark * 3 > gap) settings.problem('ROLLCALL_MARK_SECONDS must be at most a third of ROLLCALL_GAP_SECONDS');
  return mark;
};
