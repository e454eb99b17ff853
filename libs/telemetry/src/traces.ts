import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, TracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace';
import { UNTRACED, type GroupCommitOptions, type TraceBatches } from '@rollcall/event-store';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AnsweredRequest } from './requests.js';
import { sampler } from './sampler.js';

/** A request that is followed, from its head to its answer. */
export type TracedRequest = {
  /** 32 hex digits; for the log. */
  readonly traceId: string;
  /** Runs what answers the request, so that its commands are known to come from it. */
  run(work: () => void): void;
  end(answered: AnsweredRequest): void;
};

/**
 * Follows a few of many requests through the plane. A span says which step it was, how long it took and what came of it: never who asked,
 * from where, by which path or with which credential (O2, I10).
 */
export type Traces = {
  /** Whether to follow the next request. Decided here and not by a `traceparent` of the caller: a stranger must not make us follow everything. */
  readonly sampled: () => boolean;
  readonly begin: () => TracedRequest;
  /** What a store is given, so that appends are followed. */
  readonly appends: Required<Pick<GroupCommitOptions, 'currentTrace' | 'traceAppend'>>;
  /** Follows batches on their way to the feed. */
  readonly publishing: TraceBatches;
  /** Follows batches into a read model. */
  readonly projecting: (readModel: string) => TraceBatches;
  /** Delivers what is left, for a while. Nothing is followed any more. */
  close(): Promise<void>;
};

/** Follows nothing: for an app of which nobody wants traces, and for tests. */
export const NO_TRACES: Traces = {
  sampled: () => false,
  begin: () => ({ traceId: '', run: (work) => work(), end: () => undefined }),
  appends: { currentTrace: () => null, traceAppend: (parent) => ({ trace: parent, end: () => undefined }) },
  publishing: UNTRACED,
  projecting: () => UNTRACED,
  close: () => Promise.resolve(),
};

/** How traces are made. */
export type TraceOptions = {
  /** The app whose steps they are. */
  readonly service: string;
  /** Of all requests, how many are followed: from 0 to 1. */
  readonly share: number;
  /** Takes the spans. */
  readonly processor: SpanProcessor;
  /** Wall clock and chance; tests set them. */
  readonly now?: () => number;
  readonly random?: () => number;
};

/** Makes spans and hands them to a processor. */
export const traceWith = ({
  service,
  share,
  processor,
  now = Date.now,
  random = Math.random,
}: TraceOptions): Traces => {
  const provider = new TracerProvider({
    // What is begun here is followed; whether was decided before.
    sampler: new AlwaysOnSampler(),
    // Given whole: the default names the process and what else it finds.
    resource: resourceFromAttributes({ 'service.namespace': 'rollcall', 'service.name': service }),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('rollcall');
  const current = new AsyncLocalStorage<string>();

  const following =
    (name: string, kind: SpanKind): TraceBatches =>
    (batches) => {
      const spans: Span[] = [];
      for (const { number, recordedAt, facts, trace: parent } of batches) {
        const context = parent !== null && isRecent(recordedAt, now()) ? contextOf(parent) : null;
        const attributes = recordedIn({ batch: number, facts: facts.length });
        if (context !== null) spans.push(tracer.startSpan(name, { kind, attributes }, context));
      }
      return (done) => {
        for (const span of spans) endSpan(span, done);
      };
    };

  return {
    sampled: sampler(share, random),
    begin: () => {
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER }, ROOT_CONTEXT);
      return {
        traceId: span.spanContext().traceId,
        run: (work) => current.run(traceparentOf(span), work),
        end: (answered) => {
          const { name, attributes } = described(answered);
          span.updateName(name).setAttributes(attributes);
          endSpan(span, answered.status < 500);
        },
      };
    },
    appends: {
      currentTrace: () => current.getStore() ?? null,
      traceAppend: (parent) => {
        const context = contextOf(parent);
        if (context === null) return { trace: parent, end: () => undefined };
        const span = tracer.startSpan('append', {}, context);
        return {
          trace: traceparentOf(span),
          end: (recorded) => {
            if (recorded) span.setAttributes(recordedIn(recorded));
            endSpan(span, recorded !== null);
          },
        };
      },
    },
    publishing: following('publish', SpanKind.PRODUCER),
    projecting: (readModel) => following(`project ${readModel}`, SpanKind.CONSUMER),
    close: () => provider.shutdown(),
  };
};

const RECENT_MS = 60_000;

/**
 * Whether a step with a batch still belongs to the request that caused it: the batch is younger than a minute. What a rebuild or a catch-up
 * does hours later would make traces that never end. A batch from the future (a clock was set back) is no younger.
 */
export const isRecent = (recordedAt: number, now: number): boolean => Math.abs(now - recordedAt) < RECENT_MS;

const endSpan = (span: Span, done: boolean): void => {
  if (!done) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
};

const recordedIn = ({ batch, facts }: { readonly batch: bigint; readonly facts: number }): Attributes => ({
  'rollcall.batch': Number(batch),
  'rollcall.facts': facts,
});

/** Names after OpenTelemetry's conventions for HTTP. A method is as free as a path where no route takes it, so both are left out there. */
const described = ({
  method,
  route,
  status,
  code,
}: AnsweredRequest): { readonly name: string; readonly attributes: Attributes } => ({
  name: route === null ? 'no route' : `${method} ${route}`,
  attributes: {
    'http.response.status_code': status,
    ...(route === null ? {} : { 'http.request.method': method, 'http.route': route }),
    ...(code === null ? {} : { 'rollcall.problem': code }),
  },
});

/** W3C Trace Context: version, trace, span, flags. What is written down was sampled. */
const traceparentOf = (span: Span): string => {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
};

/** null for what is no `traceparent`. */
const contextOf = (traceparent: string): Context | null => {
  const parent = parseTraceParent(traceparent);
  return parent && trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
};
