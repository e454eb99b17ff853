import type { CheckPolicy, RotationPolicy } from '@rollcall/machine';
import {
  readDatabase,
  readGapSeconds,
  readLogLevel,
  readMetrics,
  readShortWindows,
  readTlsUnlessProxied,
  readTraces,
  type LogLevel,
  type MetricsSettings,
  type RecordDatabase,
  type TracesSettings,
} from '@rollcall/nest-platform';
import { readConfig, type Environment, type EnvironmentReader } from '@rollcall/settings';
import type { TlsSettings } from '@rollcall/plane-ca';
import {
  INTERVAL_CEILING_SECONDS,
  INTERVAL_DEFAULT_SECONDS,
  INTERVAL_FLOOR_SECONDS,
  isHttpsOrigin,
} from '@rollcall/wire';

/** What an instance of the machine API is told at its start. */
export type MachineApiConfig = {
  readonly database: RecordDatabase;
  readonly host: string;
  readonly port: number;
  /** null: plain HTTP behind a proxy on this host. */
  readonly tls: TlsSettings | null;
  /** The key of the chain tokens; the instances of a plane share it. */
  readonly chainKeyFile: string;
  readonly policy: CheckPolicy;
  readonly rotation: Pick<RotationPolicy, 'afterDays'>;
  /** Origin under which people reach the operator API and its page; null: installations that show a code do not say where. */
  readonly operatorApi: string | null;
  /** Milliseconds without an append after which the plane marks that it could have heard something (B1). */
  readonly markMs: number;
  /** null: nothing is measured. */
  readonly metrics: MetricsSettings | null;
  /** null: nothing is followed. */
  readonly traces: TracesSettings | null;
  readonly logLevel: LogLevel;
};

/** The setting that chooses the port. */
export const PORT_VARIABLE = 'ROLLCALL_MACHINE_API_PORT';

/** The name that its server certificate and its logs go by. */
export const APP_NAME = 'machine-api';

const WINDOW_FLOOR_SECONDS = 120;
// What a check-in stores as a small number: nine hours.
const WINDOW_CEILING_SECONDS = 32_400;
const MARK_SECONDS = 5;

/**
 * Reads the settings from the environment.
 *
 * @throws ConfigError naming every problem at the same time.
 */
export const readMachineApiConfig = (environment: Environment): MachineApiConfig =>
  readConfig(environment, (settings) => {
    const host = settings.text('ROLLCALL_MACHINE_API_HOST', '127.0.0.1');
    return {
      database: readDatabase(settings),
      host,
      port: settings.port(PORT_VARIABLE, 8443),
      tls: readTlsUnlessProxied(settings, { name: APP_NAME, host }),
      chainKeyFile: settings.text('ROLLCALL_CHAIN_KEY_FILE'),
      policy: readPolicy(settings),
      rotation: readRotation(settings),
      operatorApi: readOperatorApi(settings),
      markMs: readMark(settings) * 1000,
      metrics: readMetrics(settings),
      traces: readTraces(settings),
      logLevel: readLogLevel(settings),
    };
  });

const readPolicy = (settings: EnvironmentReader): CheckPolicy => {
  const short = readShortWindows(settings);
  return {
    interval: settings.integer('ROLLCALL_INTERVAL_SECONDS', {
      min: short ? 1 : INTERVAL_FLOOR_SECONDS,
      max: INTERVAL_CEILING_SECONDS,
      default: INTERVAL_DEFAULT_SECONDS,
    }),
    windowFloor: settings.integer('ROLLCALL_WINDOW_FLOOR_SECONDS', {
      min: short ? 1 : WINDOW_FLOOR_SECONDS,
      max: WINDOW_CEILING_SECONDS,
      default: WINDOW_FLOOR_SECONDS,
    }),
  };
};

const readRotation = (settings: EnvironmentReader): Pick<RotationPolicy, 'afterDays'> => {
  const days = settings.integer('ROLLCALL_ROTATE_AFTER_DAYS', { min: 0, max: 3_650, default: 0 });
  return { afterDays: days === 0 ? null : days };
};

const readOperatorApi = (settings: EnvironmentReader): string | null => {
  const address = settings.text('ROLLCALL_OPERATOR_API_ADDRESS', '');
  if (address !== '' && !isHttpsOrigin(address))
    settings.problem('ROLLCALL_OPERATOR_API_ADDRESS is not an origin such as https://127.0.0.1:8444');
  return address === '' ? null : address;
};

const readMark = (settings: EnvironmentReader): number => {
  const gap = readGapSeconds(settings);
  const mark = settings.number('ROLLCALL_MARK_SECONDS', { min: 0.1, max: 1_200, default: MARK_SECONDS });
  // A mark comes up to half its time late; a plane that is merely idle must never look deaf to its readers.
  if (mark * 3 > gap) settings.problem('ROLLCALL_MARK_SECONDS must be at most a third of ROLLCALL_GAP_SECONDS');
  return mark;
};
