import { NO_METRICS, serveMetrics, type Metrics } from '@rollcall/telemetry';
import type { Logger } from 'pino';
import type { MetricsSettings } from '../config/service-settings.js';
import { asPortError } from '../http/listen.js';

/**
 * Begins to measure, where the settings want it. Close it after everything that measures.
 *
 * @throws Error naming the port and its setting when the port is taken or not permitted
 */
export const openMetrics = async (settings: MetricsSettings | null, logger: Logger): Promise<Metrics> => {
  if (settings === null) return NO_METRICS;
  try {
    const metrics = await serveMetrics(settings);
    logger.info({ url: metrics.url }, 'metrics can be scraped');
    return metrics;
  } catch (error) {
    throw asPortError(error as NodeJS.ErrnoException, { ...settings, portVariable: 'ROLLCALL_METRICS_PORT' });
  }
};
