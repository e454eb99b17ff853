import { NO_METRICS, serveMetrics, type Metrics } from '@rollcall/telemetry';
import type { Logger } from 'pino';
import type { MetricsSettings } from '../config/service-settings.js';
import { asPortError } from '../http/listen.js';

/** The services that are measured; the alert rules miss each of them by this name. */
export type MeasuredService = 'machine-api' | 'operator-api' | 'projector';

/**
 * Begins to measure, where the settings want it, first of all that the service is there. Close it after everything that measures.
 *
 * @throws Error naming the port and its setting when the port is taken or not permitted
 */
export const openMetrics = async (
  settings: MetricsSettings | null,
  service: MeasuredService,
  logger: Logger,
): Promise<Metrics> => {
  if (settings === null) return NO_METRICS;
  try {
    const metrics = await serveMetrics(settings);
    metrics.meter
      // Not `service`: whoever scrapes a cluster gives that label to its targets.
      .createObservableGauge<{ part: MeasuredService }>('rollcall_service_info', {
        description: '1, and which service of a plane this is',
      })
      .addCallback((result) => result.observe(1, { part: service }));
    logger.info({ url: metrics.url }, 'metrics can be scraped');
    return metrics;
  } catch (error) {
    throw asPortError(error as NodeJS.ErrnoException, { ...settings, portVariable: 'ROLLCALL_METRICS_PORT' });
  }
};
