import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import type { Meter } from '../index.js';

export { recordingTraces, type RecordedSpan, type RecordingTraces } from './recording-traces.js';

/** A meter whose measurements can be read back, without a listener. */
export type RecordingMeter = {
  readonly meter: Meter;
  /** The samples of one metric as Prometheus would be shown them, `name{label="value"} 1` each, sorted. */
  samples(name: string): Promise<readonly string[]>;
};

/** Measures for a test. */
export const recordingMeter = (): RecordingMeter => {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const serializer = new PrometheusSerializer('', false, undefined, true, true);
  return {
    meter: new MeterProvider({ readers: [reader] }).getMeter('test'),
    samples: async (name) => {
      const { resourceMetrics } = await reader.collect();
      const lines = serializer.serialize(resourceMetrics).split('\n');
      return lines.filter((line) => line.split(/[{ ]/, 1)[0] === name).sort();
    },
  };
};
