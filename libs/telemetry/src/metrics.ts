import { createNoopMeter, type Meter } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { measureProcess } from './process.js';

/**
 * Makes instruments (OpenTelemetry). Names are those that Prometheus shows: `rollcall_…`, with the unit at their end. A label has a closed
 * set of values, written as its type; never an id, a name or an address (O2).
 */
export type { Meter } from '@opentelemetry/api';

/** The measurements of one app, with those of its process, where Prometheus asks for them. */
export type Metrics = {
  readonly meter: Meter;
  /** `http://<host>:<port>/metrics`; null where nobody can ask. */
  readonly url: string | null;
  /** Stops to listen, whoever is connected. */
  close(): Promise<void>;
};

/** Takes every measurement and keeps none: for an app of which nobody wants numbers, and for tests. */
export const NO_METRICS: Metrics = { meter: createNoopMeter(), url: null, close: () => Promise.resolve() };

const PATH = '/metrics';
const REQUEST_TIMEOUT_MS = 5_000;
const MOST_CONNECTIONS = 32;

/**
 * Begins to measure, and answers `GET /metrics` in the text format of Prometheus, without encryption and to whoever can connect. Each
 * call has a registry of its own, so several apps in one process do not mix.
 *
 * @param port 0: any free one
 * @throws what `listen` throws: EADDRINUSE, EACCES, EADDRNOTAVAIL
 */
export const serveMetrics = async ({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): Promise<Metrics> => {
  // Whose numbers they are is what Prometheus knows best: its own labels `job` and `instance` say it.
  const exporter = new PrometheusExporter({
    preventServerStart: true,
    withoutScopeInfo: true,
    withoutTargetInfo: true,
  });
  const provider = new MeterProvider({ readers: [exporter] });
  const meter = provider.getMeter('rollcall');
  // The exporter has a listener too, which does not take port 0 and does not say what it got.
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    only(exporter),
  );
  server.maxConnections = MOST_CONNECTIONS;
  server.listen(port, host);
  await once(server, 'listening');
  const rest = measureProcess(meter);
  return {
    meter,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}${PATH}`,
    close: async () => {
      rest();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await provider.shutdown();
    },
  };
};

const only =
  (exporter: PrometheusExporter): RequestListener =>
  (request, response) => {
    if (request.url !== PATH) response.writeHead(404).end();
    else if (request.method !== 'GET') response.writeHead(405, { allow: 'GET' }).end();
    else exporter.getMetricsRequestHandler(request, response);
  };
