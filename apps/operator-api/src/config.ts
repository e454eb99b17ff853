import { LOG_LEVELS, readConfig, type Environment, type LogLevel } from '@rollcall/nest-platform';
import type { TlsSettings } from '@rollcall/plane-ca';
import { isPin } from '@rollcall/wire';

/** What the operator API needs to know. */
export type OperatorApiConfig = {
  /** The record and the read models, as the application role. */
  readonly databaseUrl: string;
  /** Where the migrations lie that the database must have run. */
  readonly migrations: string;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly tls: TlsSettings;
  /** Where machines reach the plane, as tokens tell them; its pins are null where they are those of this server. */
  readonly machineApi: { readonly address: string; readonly pins: readonly string[] | null };
  readonly logLevel: LogLevel;
};

/**
 * Reads the settings once.
 *
 * - `ROLLCALL_DATABASE_URL`, `ROLLCALL_MIGRATIONS_DIR` (Default: infra/migrations), `ROLLCALL_LOG_LEVEL` (Default: info)
 * - `ROLLCALL_OPERATOR_API_HOST` (Default: 127.0.0.1), `ROLLCALL_OPERATOR_API_PORT` (Default: 8444)
 * - `ROLLCALL_CA_DIR`: the plane's own authority, and `ROLLCALL_TLS_HOSTS`: the names that its certificate is for
 *   (Default: localhost, 127.0.0.1, ::1); or `ROLLCALL_TLS_CERT_FILE` and `ROLLCALL_TLS_KEY_FILE`, PEM files
 * - `ROLLCALL_MACHINE_API_ADDRESS` (Default: https://127.0.0.1:8443), `ROLLCALL_MACHINE_API_PINS` (Default: those of this server;
 *   `none` for a machine API with a public certificate)
 *
 * @throws ConfigError naming every problem at the same time.
 */
export const readOperatorApiConfig = (environment: Environment): OperatorApiConfig =>
  readConfig(environment, (settings) => {
    const certificateFile = settings.optionalText('ROLLCALL_TLS_CERT_FILE');
    const keyFile = settings.optionalText('ROLLCALL_TLS_KEY_FILE');
    if ((certificateFile === null) !== (keyFile === null))
      settings.problem('ROLLCALL_TLS_CERT_FILE and ROLLCALL_TLS_KEY_FILE belong together');
    const tls =
      certificateFile !== null && keyFile !== null
        ? { certificateFile, keyFile }
        : {
            directory: settings.text('ROLLCALL_CA_DIR'),
            name: 'operator-api',
            hosts: settings.list('ROLLCALL_TLS_HOSTS', ['localhost', '127.0.0.1', '::1']),
          };
    const address = settings.url('ROLLCALL_MACHINE_API_ADDRESS', ['https:'], 'https://127.0.0.1:8443');
    if (URL.canParse(address) && new URL(address).origin !== address)
      settings.problem('ROLLCALL_MACHINE_API_ADDRESS is more than an origin such as https://127.0.0.1:8443');
    const pins = settings.list('ROLLCALL_MACHINE_API_PINS', []);
    const none = pins.length === 1 && pins[0] === 'none';
    if (!none && !pins.every(isPin))
      settings.problem(
        'ROLLCALL_MACHINE_API_PINS must be `none` or pins such as sha256/<base64>, with commas between them',
      );
    return {
      databaseUrl: settings.url('ROLLCALL_DATABASE_URL', ['postgres:', 'postgresql:']),
      migrations: settings.text('ROLLCALL_MIGRATIONS_DIR', 'infra/migrations'),
      host: settings.text('ROLLCALL_OPERATOR_API_HOST', '127.0.0.1'),
      port: settings.port('ROLLCALL_OPERATOR_API_PORT', 8_444),
      tls,
      machineApi: { address, pins: none ? [] : pins.length === 0 ? null : pins },
      logLevel: settings.oneOf('ROLLCALL_LOG_LEVEL', LOG_LEVELS, 'info'),
    };
  });
