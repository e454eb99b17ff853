import { SpanKind, SpanStatusCode, type Attributes } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace';
import { traceWith, type TraceOptions, type Traces } from '../traces.js';

/** A span as a test looks at it. */
export type RecordedSpan = {
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly id: string;
  /** null: it is the first of its trace. */
  readonly parent: string | null;
  readonly attributes: Attributes;
  readonly failed: boolean;
};

/** Traces whose spans can be read back. */
export type RecordingTraces = {
  readonly traces: Traces;
  /** What has ended, in that order. */
  spans(): readonly RecordedSpan[];
};

/** Follows every request, unless told otherwise. */
export const recordingTraces = (options: Partial<Omit<TraceOptions, 'processor'>> = {}): RecordingTraces => {
  const exporter = new InMemorySpanExporter();
  const traces = traceWith({ service: 'test', share: 1, ...options, processor: new SimpleSpanProcessor({ exporter }) });
  return { traces, spans: () => exporter.getFinishedSpans().map(recorded) };
};

const recorded = (span: ReadableSpan): RecordedSpan => {
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    kind: SpanKind[span.kind],
    traceId,
    id: spanId,
    parent: span.parentSpanContext?.spanId ?? null,
    attributes: span.attributes,
    failed: span.status.code === SpanStatusCode.ERROR,
  };
};
