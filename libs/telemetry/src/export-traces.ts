import { ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import { traceWith, type Traces } from './traces.js';

/** Where spans go, and how many requests are followed. */
export type ExportedTraces = {
  /** The app whose spans they are. */
  readonly service: string;
  /** Of all requests, from 0 to 1. */
  readonly share: number;
  /** Takes OTLP over HTTP, for example `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  readonly log: TraceLog;
};

/** Where it is told that spans are lost; a pino logger is one. */
export type TraceLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** Beyond these, spans are lost. One takes about a kilobyte. */
const MOST_WAITING = 2_048;
const SEND_EVERY_MS = 1_000;
/** What a collector has for an answer, at the end of the process too. */
const PATIENCE_MS = 2_000;

/** Makes spans and sends them to a collector. Nobody waits for it: it may be away, slow or never answer, and then spans are lost. */
export const exportTraces = ({ service, share, url, log }: ExportedTraces): Traces =>
  traceWith({ service, share, processor: bounded(collectorAt(url), log) });

/**
 * Sends spans once, within a time that nothing prolongs. The exporter that OpenTelemetry brings bounds the silence of a collector and not its
 * answer, so one that answers a byte a second would keep the process from ending.
 */
const collectorAt = (url: string): SpanExporter => {
  const send = async (spans: ReadableSpan[]): Promise<void> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JsonTraceSerializer.serializeRequest(spans) as Uint8Array<ArrayBuffer>,
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    // The status says it all, and the rest may be without an end.
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`The collector answered ${answer.status}`);
  };
  return {
    export: (spans, answer) =>
      void send(spans).then(
        () => answer({ code: ExportResultCode.SUCCESS }),
        (error: Error) => answer({ code: ExportResultCode.FAILED, error }),
      ),
    shutdown: () => Promise.resolve(),
  };
};

/** Lets so many spans wait and no more, and tells when some are lost: once, until they are delivered again. */
const bounded = (exporter: SpanExporter, log: TraceLog): SpanProcessor => {
  let waiting = 0;
  let losing = false;
  const lost = (err: Error): void => {
    if (!losing) log.warn({ err }, 'spans are lost: the collector of traces does not take them');
    losing = true;
  };
  const delivered = (): void => {
    // One success with a full queue is no end of the losses.
    if (!losing || waiting > MOST_WAITING / 2) return;
    losing = false;
    log.info({}, 'spans are delivered again');
  };
  const batches = new BatchSpanProcessor({
    exporter: {
      export: (spans, answer) =>
        exporter.export(spans, (result) => {
          waiting -= spans.length;
          if (result.code === ExportResultCode.SUCCESS) delivered();
          else lost(result.error ?? new Error('The collector did not say why'));
          answer(result);
        }),
      shutdown: () => exporter.shutdown(),
    },
    maxQueueSize: MOST_WAITING,
    scheduledDelayMillis: SEND_EVERY_MS,
    exportTimeoutMillis: PATIENCE_MS,
  });
  return {
    onStart: () => undefined,
    onEnd: (span) => {
      if (waiting >= MOST_WAITING) return lost(new Error(`${waiting} spans wait already`));
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    // What is not taken in time is lost, and the log has said so.
    shutdown: () => batches.shutdown().catch(() => undefined),
  };
};
