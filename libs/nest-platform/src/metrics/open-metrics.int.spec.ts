import { expect, it } from '@jest/globals';
import { readConfig } from '@rollcall/settings';
import { openMetrics, readMetrics } from '../index.js';
import { recordingLogger } from '../testing/index.js';

const read = (environment: Record<string, string>) =>
  readConfig(environment, (settings) => ({ metrics: readMetrics(settings) })).metrics;

it('measures nothing and listens on nothing where no port is set (O1)', async () => {
  const { logger, lines } = recordingLogger();
  const metrics = await openMetrics(read({ ROLLCALL_METRICS_HOST: '0.0.0.0' }), logger);
  expect(metrics.url).toBeNull();
  expect(lines()).toEqual([]);
  await metrics.close();
});

it('listens on the loopback where nothing else is said, and says where', async () => {
  const { logger, lines } = recordingLogger();
  const metrics = await openMetrics(read({ ROLLCALL_METRICS_PORT: '0' }), logger);
  expect(metrics.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  expect(lines()).toMatchObject([{ url: metrics.url, msg: 'metrics can be scraped' }]);
  await metrics.close();
});

it('names a taken port and its setting', async () => {
  const { logger } = recordingLogger();
  const metrics = await openMetrics({ host: '127.0.0.1', port: 0 }, logger);
  const { port } = new URL(metrics.url ?? '');
  await expect(openMetrics(read({ ROLLCALL_METRICS_PORT: port }), logger)).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is taken by another program. Choose another with ROLLCALL_METRICS_PORT.`,
  );
  await metrics.close();
});
