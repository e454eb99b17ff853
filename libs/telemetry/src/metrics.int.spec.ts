import { afterEach, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { serveMetrics, type Metrics } from './index.js';

const open: Metrics[] = [];
afterEach(async () => {
  for (const metrics of open.splice(0)) await metrics.close();
});

const served = async (port = 0): Promise<Metrics & { url: string; port: number }> => {
  const metrics = await serveMetrics({ host: '127.0.0.1', port });
  open.push(metrics);
  const url = metrics.url ?? '';
  return { ...metrics, url, port: Number(new URL(url).port) };
};
const scrape = async (url: string): Promise<string> => (await fetch(url)).text();
const samples = (text: string): readonly string[] =>
  text.split('\n').flatMap((line) => (line.startsWith('#') || line === '' ? [] : (line.split(/[{ ]/, 1)[0] ?? [])));

it('answers the one question, and no other', async () => {
  const { url } = await served();
  const answer = await fetch(url);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain']);
  expect((await fetch(new URL('/', url))).status).toBe(404);
  expect((await fetch(`${url}?name=forge`)).status).toBe(404);
  expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(405);
});

it('measures its process, and says nothing of the host: no name, no address, no arguments (O2)', async () => {
  const { url } = await served();
  const text = await scrape(url);
  expect(new Set(samples(text))).toEqual(
    new Set([
      'process_resident_memory_bytes',
      'nodejs_heap_size_used_bytes',
      'process_cpu_seconds_total',
      'process_start_time_seconds',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_eventloop_lag_max_seconds',
    ]),
  );
  const value = (name: string) => Number(new RegExp(`^${name}(?:\\{.*\\})? (.*)$`, 'm').exec(text)?.[1]);
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(10e6);
  expect(value('process_cpu_seconds_total')).toBeGreaterThan(0.01);
  expect(value('process_start_time_seconds')).toBeGreaterThan(1.7e9);
});

it('keeps the measurements of two apps in one process apart', async () => {
  const [one, other] = [await served(), await served()];
  one.meter.createCounter('rollcall_one_total').add(1);
  expect(samples(await scrape(one.url))).toContain('rollcall_one_total');
  expect(samples(await scrape(other.url))).not.toContain('rollcall_one_total');
});

it('shows the other measurements when one of them fails', async () => {
  const { meter, url } = await served();
  meter.createObservableGauge('rollcall_failing').addCallback(() => Promise.reject(new Error('away')));
  meter.createObservableGauge('rollcall_other').addCallback((result) => result.observe(1));
  const names = samples(await scrape(url));
  expect(names).toContain('rollcall_other');
  expect(names).not.toContain('rollcall_failing');
});

it('leaves nothing behind when it is closed, whoever is connected, and gives back its port', async () => {
  const { url, port, close } = await served();
  await scrape(url); // its connection is kept alive
  const idle = connect(port, '127.0.0.1');
  idle.on('error', () => undefined);
  await once(idle, 'connect');
  const ended = once(idle, 'close');
  await close();
  open.length = 0;
  await ended;
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  expect((await served(port)).port).toBe(port);
});

it('fails where its port is taken', async () => {
  const { port } = await served();
  await expect(served(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
