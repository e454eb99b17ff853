import type { Meter } from '@opentelemetry/api';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

/**
 * Memory, processor time and event loop of this process, under the names that dashboards for Node know. How late the event loop was is
 * told since the last time that somebody asked.
 *
 * @returns the way to stop
 */
export const measureProcess = (meter: Meter): (() => void) => {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const startedAt = Date.now() / 1_000 - process.uptime();
  const memory = meter.createObservableGauge('process_resident_memory_bytes', {
    description: 'Memory that this process holds',
  });
  const heap = meter.createObservableGauge('nodejs_heap_size_used_bytes', {
    description: 'Memory that its JavaScript objects take',
  });
  const cpu = meter.createObservableCounter<{ mode: 'user' | 'system' }>('process_cpu_seconds_total', {
    description: 'Processor time that this process has used',
  });
  const started = meter.createObservableGauge('process_start_time_seconds', {
    description: 'When this process was started, in seconds since 1970',
  });
  const lag = meter.createObservableGauge('nodejs_eventloop_lag_p99_seconds', {
    description: 'How late the event loop was since the scrape before: 99 of 100 turns were less',
  });
  const longest = meter.createObservableGauge('nodejs_eventloop_lag_max_seconds', {
    description: 'How late the event loop was since the scrape before, at worst',
  });
  meter.addBatchObservableCallback(
    (result) => {
      const { rss, heapUsed } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      result.observe(memory, rss);
      result.observe(heap, heapUsed);
      result.observe(cpu, user / MICROSECONDS, { mode: 'user' });
      result.observe(cpu, system / MICROSECONDS, { mode: 'system' });
      result.observe(started, startedAt);
      result.observe(lag, lateness(delay.percentile(99)));
      result.observe(longest, lateness(delay.percentile(100)));
      delay.reset();
    },
    [memory, heap, cpu, started, lag, longest],
  );
  return () => delay.disable();
};

/** What is measured is the time between two turns that should be one resolution apart. */
const lateness = (nanoseconds: number): number => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1_000);
