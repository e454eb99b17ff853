import { exportTraces, NO_TRACES, type Traces } from '@rollcall/telemetry';
import type { Logger } from 'pino';
import type { TracesSettings } from '../config/service-settings.js';

/** Begins to follow some requests, where the settings want it. Close it after everything that is followed. */
export const openTraces = (settings: TracesSettings | null, service: string, logger: Logger): Traces => {
  if (settings === null) return NO_TRACES;
  // Not its query, which may hold a key.
  logger.info({ collector: new URL(settings.url).origin, share: settings.share }, 'traces are sent');
  return exportTraces({ ...settings, service, log: logger });
};
