import { FRESH_SECONDS } from '@rollcall/authorisation';
import {
  readDatabase,
  readGapSeconds,
  readLogLevel,
  readMetrics,
  readTls,
  readTraces,
  type LogLevel,
  type MetricsSettings,
  type RecordDatabase,
  type TracesSettings,
} from '@rollcall/nest-platform';
import { IDLE_SECONDS, SESSION_LIFE_SECONDS } from '@rollcall/person';
import { readConfig, type Environment, type EnvironmentReader } from '@rollcall/settings';
import type { TlsSettings } from '@rollcall/plane-ca';
import { readWebhookSettings, type WebhookSettings } from '@rollcall/webhooks';
import { isPin } from '@rollcall/wire';
import { join } from 'node:path';
import { readProvider, type ProviderSettings } from './account/provider-settings.js';

const YEAR_SECONDS = 31_536_000;

/** What the operator API needs to know. */
export type OperatorApiConfig = {
  /** The record and the read models, as the application role. */
  readonly database: RecordDatabase;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly tls: TlsSettings;
  /** For how long browsers use nothing but HTTPS with this host name; null: they are told nothing. */
  readonly httpsOnlySeconds: number | null;
  /** Where machines reach the plane, as tokens tell them; its pins are null where they are those of this server. */
  readonly machineApi: { readonly address: string; readonly pins: readonly string[] | null };
  /** For how many seconds a session counts as fresh, which admitting and deleting ask for. */
  readonly freshSeconds: number;
  /** For how many seconds nobody may use a session in a browser before it is over. */
  readonly idleSeconds: number;
  /** Where people can sign in beside links; null: nowhere. */
  readonly provider: ProviderSettings | null;
  /** Where the web page was built to. */
  readonly pageDirectory: string;
  readonly webhooks: WebhookSettings;
  /** Two neighbouring ears further apart than this many seconds show that the plane was deaf in between (B1). */
  readonly gapSeconds: number;
  /** null: nothing is measured. */
  readonly metrics: MetricsSettings | null;
  /** null: nothing is followed. */
  readonly traces: TracesSettings | null;
  readonly logLevel: LogLevel;
};

/**
 * Reads the settings once.
 *
 * - those of every service: database, migrations, metrics, traces, log level; and those of every server: its certificate
 * - `ROLLCALL_OPERATOR_API_HOST` (Default: 127.0.0.1), `ROLLCALL_OPERATOR_API_PORT` (Default: 8444)
 * - `ROLLCALL_MACHINE_API_ADDRESS` (Default: https://127.0.0.1:8443), `ROLLCALL_MACHINE_API_PINS` (Default: those of this server;
 *   `none` for a machine API with a public certificate)
 * - `ROLLCALL_FRESH_SESSION_SECONDS` (Default: 900), 60 to 43200: how long after signing in a person may admit and delete
 * - `ROLLCALL_IDLE_SESSION_SECONDS` (Default: 1800), 120 to 3000: a session in a browser that nobody uses for so long is over
 * - `ROLLCALL_GAP_SECONDS` (Default: 15), as for the projector
 * - those of `readProvider`
 * - `ROLLCALL_HSTS_SECONDS`, 0 to 63072000 (Default: 31536000 with certificate files, which browsers are meant to know; with the plane's own
 *   authority browsers are told nothing): for how long browsers use nothing but HTTPS with this host name, 0 takes it back
 * - `ROLLCALL_PAGE_DIR` (Default: the folder `dashboard` beside that of the built program): the web page
 * - those of `readWebhookSettings`
 *
 * @throws ConfigError naming every problem at the same time.
 */
export const readOperatorApiConfig = (environment: Environment): OperatorApiConfig =>
  readConfig(environment, (settings) => {
    const address = settings.url('ROLLCALL_MACHINE_API_ADDRESS', ['https:'], 'https://127.0.0.1:8443');
    if (URL.canParse(address) && new URL(address).origin !== address)
      settings.problem('ROLLCALL_MACHINE_API_ADDRESS is more than an origin such as https://127.0.0.1:8443');
    const pins = settings.list('ROLLCALL_MACHINE_API_PINS', []);
    const none = pins.length === 1 && pins[0] === 'none';
    if (!none && !pins.every(isPin))
      settings.problem(
        'ROLLCALL_MACHINE_API_PINS must be `none` or pins such as sha256/<base64>, with commas between them',
      );
    const tls = readTls(settings, 'operator-api');
    return {
      database: readDatabase(settings),
      host: settings.text('ROLLCALL_OPERATOR_API_HOST', '127.0.0.1'),
      port: settings.port('ROLLCALL_OPERATOR_API_PORT', 8_444),
      tls,
      httpsOnlySeconds: readHttpsOnly(settings, tls),
      machineApi: { address, pins: none ? [] : pins.length === 0 ? null : pins },
      freshSeconds: settings.integer('ROLLCALL_FRESH_SESSION_SECONDS', {
        min: 60,
        max: SESSION_LIFE_SECONDS,
        default: FRESH_SECONDS,
      }),
      // Attempts are forgotten after an hour, and the page says once in a minute that somebody is there.
      idleSeconds: settings.integer('ROLLCALL_IDLE_SESSION_SECONDS', { min: 120, max: 3_000, default: IDLE_SECONDS }),
      provider: readProvider(settings),
      pageDirectory: settings.text('ROLLCALL_PAGE_DIR', join(import.meta.dirname, '../dashboard')),
      webhooks: readWebhookSettings(settings),
      gapSeconds: readGapSeconds(settings),
      metrics: readMetrics(settings),
      traces: readTraces(settings),
      logLevel: readLogLevel(settings),
    };
  });

/**
 * It holds for the host name and not for the port, so a browser that trusts the plane's own authority on `localhost` would lose whatever else is
 * served there in the clear: only who asks for it gets it there.
 */
const readHttpsOnly = (settings: EnvironmentReader, tls: TlsSettings): number | null =>
  'certificateFile' in tls || settings.optionalText('ROLLCALL_HSTS_SECONDS') !== null
    ? settings.integer('ROLLCALL_HSTS_SECONDS', { min: 0, max: 2 * YEAR_SECONDS, default: YEAR_SECONDS })
    : null;
