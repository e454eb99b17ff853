import { readDatabaseUrl } from '@rollcall/event-store-postgres';
import type { TlsSettings } from '@rollcall/plane-ca';
import type { RecordDatabase } from '../health/record-database.js';
import { LOG_LEVELS, type LogLevel } from '../logging/logger.js';
import type { EnvironmentReader } from '@rollcall/settings';

// Settings that more than one service reads: the same words mean the same everywhere.

/** The settings of `readDatabaseUrl`, and `ROLLCALL_MIGRATIONS_DIR` (Default: infra/migrations). */
export const readDatabase = (settings: EnvironmentReader): RecordDatabase => ({
  url: readDatabaseUrl(settings),
  migrations: settings.text('ROLLCALL_MIGRATIONS_DIR', 'infra/migrations'),
});

/**
 * `ROLLCALL_TLS_CERT_FILE` and `ROLLCALL_TLS_KEY_FILE`, PEM files, both or none; without them `ROLLCALL_CA_DIR`, the plane's own
 * authority, and `ROLLCALL_TLS_HOSTS`, the names that its certificate is for (Default: localhost, 127.0.0.1, ::1).
 *
 * @param name what the certificate of this service goes by in that directory
 */
export const readTls = (settings: EnvironmentReader, name: string): TlsSettings => {
  const certificateFile = settings.optionalText('ROLLCALL_TLS_CERT_FILE');
  const keyFile = settings.optionalText('ROLLCALL_TLS_KEY_FILE');
  if (certificateFile !== null && keyFile !== null) return { certificateFile, keyFile };
  if (certificateFile !== null || keyFile !== null)
    settings.problem('ROLLCALL_TLS_CERT_FILE and ROLLCALL_TLS_KEY_FILE belong together: set both, or none');
  return {
    directory: settings.text('ROLLCALL_CA_DIR'),
    name,
    hosts: settings.list('ROLLCALL_TLS_HOSTS', ['localhost', '127.0.0.1', '::1']),
  };
};

/**
 * The same, or null for `ROLLCALL_TLS=off` (Default: on): plain HTTP, for a proxy on this host that terminates TLS. A credential never crosses
 * a network in the clear, so it takes a loopback address as `host`.
 */
export const readTlsUnlessProxied = (
  settings: EnvironmentReader,
  { name, host }: { readonly name: string; readonly host: string },
): TlsSettings | null => {
  if (settings.oneOf('ROLLCALL_TLS', ['on', 'off'], 'on') === 'on') return readTls(settings, name);
  if (!LOOPBACK.has(host))
    settings.problem(`ROLLCALL_TLS=off is for a proxy on this host: listen on 127.0.0.1, not on ${host}`);
  return null;
};

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

/**
 * `ROLLCALL_GAP_SECONDS` (Default: 15): two ears further apart than this show that the plane was deaf in between (B1). At most 60: a deaf time of half
 * the shortest window that is called none would make machines absent that nobody could hear.
 */
export const readGapSeconds = (settings: EnvironmentReader): number =>
  // A mark comes after five seconds without a check, so less than that would call every quiet night deaf; tests do.
  settings.number('ROLLCALL_GAP_SECONDS', { min: 0.001, max: readShortWindows(settings) ? 3_600 : 60, default: 15 });

/** `ROLLCALL_TEST_SHORT_WINDOWS` (Default: 0): tests that cannot wait for two minutes say so; nobody gets a hot loop by a slip of the pen. */
export const readShortWindows = (settings: EnvironmentReader): boolean => settings.flag('ROLLCALL_TEST_SHORT_WINDOWS');

/** Where an app shows its metrics. */
export type MetricsSettings = { readonly host: string; readonly port: number };

/**
 * `ROLLCALL_METRICS_PORT` (Default: not set, and nothing is measured) and `ROLLCALL_METRICS_HOST` (Default: 127.0.0.1): a listener of its
 * own, so that who may scrape and who may call are two questions.
 */
export const readMetrics = (settings: EnvironmentReader): MetricsSettings | null => {
  const host = settings.text('ROLLCALL_METRICS_HOST', '127.0.0.1');
  return settings.optionalText('ROLLCALL_METRICS_PORT') === null
    ? null
    : { host, port: settings.port('ROLLCALL_METRICS_PORT', 0) };
};

/** Where an app sends its traces, and how many of all requests it follows. */
export type TracesSettings = { readonly url: string; readonly share: number };

/**
 * `ROLLCALL_TRACES_URL` (Default: not set, and nothing is followed or sent): takes OTLP over HTTP; `/v1/traces` is added to an address without
 * a path. `ROLLCALL_TRACES_SHARE` (Default: 0.01): of all requests, from 0 to 1.
 */
export const readTraces = (settings: EnvironmentReader): TracesSettings | null => {
  const share = settings.number('ROLLCALL_TRACES_SHARE', { min: 0, max: 1, default: 0.01 });
  if (settings.optionalText('ROLLCALL_TRACES_URL') === null) return null;
  const text = settings.url('ROLLCALL_TRACES_URL', ['http:', 'https:']);
  const url = URL.parse(text);
  if (url === null) return null;
  if (url.username || url.password)
    settings.problem('ROLLCALL_TRACES_URL names a user or a password: a collector is not signed in to');
  if (url.pathname === '/') url.pathname = '/v1/traces';
  return { url: url.href, share };
};

/** `ROLLCALL_LOG_LEVEL` (Default: info). */
export const readLogLevel = (settings: EnvironmentReader): LogLevel =>
  settings.oneOf('ROLLCALL_LOG_LEVEL', LOG_LEVELS, 'info');
