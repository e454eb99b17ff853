import { afterEach, expect, it } from '@jest/globals';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { eventually } from '../../../test/support/processes.js';
import { exportTraces, type AnsweredRequest, type Traces } from './index.js';

const ANSWER: AnsweredRequest = { method: 'POST', route: '/v1/check', status: 200, code: null, seconds: 0.004 };

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A collector that behaves as a test wants it to. */
const collector = async (answer: RequestListener, port = 0): Promise<{ url: string; server: Server }> => {
  const server = createServer(answer).listen(port, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => end(server));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`, server };
};

const end = async (server: Server): Promise<void> => {
  if (!server.listening) return;
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
};

const sending = (url: string): { traces: Traces; told: string[] } => {
  const told: string[] = [];
  const tell = (_: object, message: string) => void told.push(message);
  const traces = exportTraces({ service: 'machine-api', share: 1, url, log: { info: tell, warn: tell } });
  closing.push(() => traces.close());
  return { traces, told };
};
const follow = (traces: Traces, requests = 1): void => {
  for (let request = 0; request < requests; request += 1) traces.begin().end(ANSWER);
};
const secondsOf = async (work: Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work;
  return (performance.now() - begun) / 1_000;
};

const LOST = 'spans are lost: the collector of traces does not take them';
const DELIVERED = 'spans are delivered again';

it('sends spans as OTLP over HTTP, with the app that they are of and nothing of its host (O2)', async () => {
  const bodies: string[] = [];
  const { url } = await collector((request, response) => {
    request.setEncoding('utf8').on('data', (chunk) => bodies.push(String(chunk)));
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  const { traces, told } = sending(url);
  follow(traces);
  await traces.close();
  const { resourceSpans } = JSON.parse(bodies.join('')) as {
    resourceSpans: [{ resource: unknown; scopeSpans: unknown }];
  };
  expect(resourceSpans[0].resource).toMatchObject({
    attributes: [
      { key: 'service.namespace', value: { stringValue: 'rollcall' } },
      { key: 'service.name', value: { stringValue: 'machine-api' } },
    ],
  });
  expect(resourceSpans[0].scopeSpans).toMatchObject([{ spans: [{ name: 'POST /v1/check' }] }]);
  expect(told).toEqual([]);
});

it.each<[string, RequestListener]>([
  ['never answers', () => undefined],
  ['refuses', (_, response) => void response.writeHead(503).end()],
  [
    'sends elsewhere',
    ({ url }, response) => void response.writeHead(url === '/other' ? 200 : 307, { location: '/other' }).end(),
  ],
  ['hangs up', (request) => void request.socket.destroy()],
])('waits two seconds and a little for a collector that %s, also at the end, and says so once', async (_, answer) => {
  const { url } = await collector(answer);
  const { traces, told } = sending(url);
  follow(traces, 600);
  await eventually('it was told', () => Promise.resolve(told.length > 0));
  follow(traces, 3_000);
  expect(await secondsOf(traces.close())).toBeLessThan(4);
  expect(told).toEqual([LOST]);
});

it('reads no more than the head of an answer, so one without an end is none to wait for', async () => {
  const ended = Promise.withResolvers<void>();
  const { url } = await collector((_, response) => {
    drip(response.writeHead(200));
    response.on('close', () => ended.resolve());
  });
  const { traces, told } = sending(url);
  follow(traces);
  await ended.promise;
  expect(await secondsOf(traces.close())).toBeLessThan(1.9);
  expect(told).toEqual([]);
});

/** A byte now and then, so that no socket is ever idle. */
const drip = (response: ServerResponse): void => {
  const timer = setInterval(() => response.write(' '), 100);
  response.on('close', () => clearInterval(timer));
};

it('keeps two thousand spans for a collector, loses more, and says so once', async () => {
  let taken = 0;
  const { url } = await collector((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      taken += Buffer.concat(chunks).toString().split('"spanId"').length - 1;
      response.end('{}');
    });
  });
  const { traces, told } = sending(url);
  follow(traces, 5_000);
  await traces.close();
  expect(taken).toBe(2_048);
  expect(told).toEqual([LOST, DELIVERED]);
});

it('delivers again when a collector that was away is back, and says so', async () => {
  const { url, server } = await collector((_, response) => void response.end());
  await end(server);
  const { traces, told } = sending(url);
  follow(traces);
  await eventually('it was told', () => Promise.resolve(told.length > 0));
  await collector((_, response) => void response.end('{}'), Number(new URL(url).port));
  await eventually('it goes on', () => {
    follow(traces);
    return Promise.resolve(told.length > 1);
  });
  expect(told).toEqual([LOST, DELIVERED]);
});
