import { readNatsFeed, type NatsFeedSettings } from '@rollcall/feed-nats';
import {
  readDatabase,
  readGapSeconds,
  readLogLevel,
  readMetrics,
  readTraces,
  type LogLevel,
  type MetricsSettings,
  type RecordDatabase,
  type TracesSettings,
} from '@rollcall/nest-platform';
import { readConfig, type Environment } from '@rollcall/settings';
import { readWebhookSettings, type WebhookSettings } from '@rollcall/webhooks';

/** What the projector needs to know. */
export type ProjectorConfig = {
  /** The record and the read models, as the application role. */
  readonly database: RecordDatabase;
  /** Of the health listener on 127.0.0.1; 0 lets the system choose. */
  readonly port: number;
  /** Two neighbouring ears further apart than this many seconds show that the plane was deaf in between (B1). */
  readonly gapSeconds: number;
  /** Where batches and events are distributed; null: nowhere, and read models follow the record itself. */
  readonly feed: NatsFeedSettings | null;
  readonly webhooks: WebhookSettings;
  /** null: nothing is measured. */
  readonly metrics: MetricsSettings | null;
  /** null: nothing is followed. */
  readonly traces: TracesSettings | null;
  readonly logLevel: LogLevel;
};

/** The setting that chooses the port. */
export const PORT_VARIABLE = 'ROLLCALL_PROJECTOR_PORT';

/**
 * Reads the settings once: `ROLLCALL_DATABASE_URL`, `ROLLCALL_MIGRATIONS_DIR` (Default: infra/migrations), `ROLLCALL_PROJECTOR_PORT`
 * (Default: 8445), `ROLLCALL_GAP_SECONDS` (Default: 15), `ROLLCALL_LOG_LEVEL` (Default: info), and those of `readNatsFeed`, `readWebhookSettings`,
 * `readMetrics` and `readTraces`.
 *
 * @throws ConfigError naming every problem at the same time
 */
export const readProjectorConfig = (environment: Environment): ProjectorConfig =>
  readConfig(environment, (settings) => ({
    database: readDatabase(settings),
    port: settings.port(PORT_VARIABLE, 8_445),
    gapSeconds: readGapSeconds(settings),
    feed: readNatsFeed(settings),
    webhooks: readWebhookSettings(settings),
    metrics: readMetrics(settings),
    traces: readTraces(settings),
    logLevel: readLogLevel(settings),
  }));
