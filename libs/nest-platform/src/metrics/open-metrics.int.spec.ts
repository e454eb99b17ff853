import { afterEach, expect, it } from '@jest/globals';
import { readConfig } from '@rollcall/settings';
import { openMetrics, readMetrics, type Logger, type MetricsSettings } from '../index.js';
import { recordingLogger } from '../testing/index.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const opened = async (settings: MetricsSettings | null, logger: Logger) => {
  const metrics = await openMetrics(settings, 'projector', logger);
  closing.push(metrics.close);
  return metrics;
};
const read = (environment: Record<string, string>) =>
  readConfig(environment, (settings) => ({ metrics: readMetrics(settings) })).metrics;

it('measures nothing and listens on nothing where no port is set (O1)', async () => {
  const { logger, lines } = recordingLogger();
  const metrics = await opened(read({ ROLLCALL_METRICS_HOST: '0.0.0.0' }), logger);
  expect(metrics.url).toBeNull();
  expect(lines()).toEqual([]);
});

it('listens on the loopback where nothing else is said, and says where, and which service it is', async () => {
  const { logger, lines } = recordingLogger();
  const metrics = await opened(read({ ROLLCALL_METRICS_PORT: '0' }), logger);
  expect(metrics.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  expect(lines()).toMatchObject([{ url: metrics.url, msg: 'metrics can be scraped' }]);
  const scrape = await (await fetch(metrics.url ?? '')).text();
  expect(scrape).toContain('rollcall_service_info{part="projector"} 1\n');
});

it('names a taken port and its setting', async () => {
  const { logger } = recordingLogger();
  const metrics = await opened({ host: '127.0.0.1', port: 0 }, logger);
  const { port } = new URL(metrics.url ?? '');
  await expect(opened(read({ ROLLCALL_METRICS_PORT: port }), logger)).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is taken by another program. Choose another with ROLLCALL_METRICS_PORT.`,
  );
});
