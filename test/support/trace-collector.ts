import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Value = { readonly stringValue?: string; readonly intValue?: number | string };
type Attributes = readonly { readonly key: string; readonly value: Value }[];
/** The part of an OTLP request that tests look at. */
type ExportRequest = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string;
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly attributes: Attributes;
      }[];
    }[];
  }[];
};

/** A span as it arrived. */
export type CollectedSpan = {
  /** Which app sent it. */
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly id: string;
  /** null: the first of its trace. */
  readonly parent: string | null;
  readonly attributes: Readonly<Record<string, string | number>>;
};

/** A collector of traces. */
export type TraceCollector = {
  /** For `ROLLCALL_TRACES_URL`. */
  readonly url: string;
  spans(): readonly CollectedSpan[];
  /** All that arrived, as it was sent. */
  text(): string;
  /** Takes what comes and never answers again. */
  hang(): void;
  close(): Promise<void>;
};

/** Starts one, which takes OTLP over HTTP as JSON. */
export const startTraceCollector = async (): Promise<TraceCollector> => {
  const bodies: string[] = [];
  let hangs = false;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString());
      if (!hangs) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => bodies.flatMap((body) => spansIn(JSON.parse(body) as ExportRequest)),
    text: () => bodies.join('\n'),
    hang: () => {
      hangs = true;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

const spansIn = ({ resourceSpans }: ExportRequest): readonly CollectedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId, attributes }) => ({
        service: String(valuesOf(resource.attributes)['service.name']),
        name,
        traceId,
        id: spanId,
        parent: parentSpanId ?? null,
        attributes: valuesOf(attributes),
      })),
    ),
  );

const valuesOf = (attributes: Attributes): Readonly<Record<string, string | number>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)] as const));
