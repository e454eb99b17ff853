// X.509 of our own making, as the authority of a plane makes it and as somebody makes it who wants to be taken for one.
import 'reflect-metadata';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import * as x509 from '@peculiar/x509';
import { isPin, pinOf } from '@rollcall/wire';
import { X509Certificate, webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpsServer, type Server } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { RequestListener } from 'node:http';
import { PinnedClient, TransportError, type HttpCall } from './index.js';

const EC = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const;
const DAY = 86_400_000;

type Issuer = { readonly certificate: x509.X509Certificate; readonly keys: webcrypto.CryptoKeyPair };

const keyPair = () => webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']);

const authority = async (): Promise<Issuer> => {
  const keys = await keyPair();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Authority',
    keys,
    notBefore: new Date(Date.now() - 300 * DAY),
    notAfter: new Date(Date.now() + 300 * DAY),
    signingAlgorithm: SIGNATURE,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  });
  return { certificate, keys };
};

const pinned = ({ certificate }: Issuer) => pinOf(new X509Certificate(certificate.toString('pem')).publicKey);

/** A chain, leaf first, and the leaf's key. `shown` is the authority that is presented along, which need not be the one that signed. */
const chainFrom = async (
  issuer: Issuer,
  {
    host = '127.0.0.1',
    shown = issuer,
    usage = x509.ExtendedKeyUsage.serverAuth,
  }: { host?: string; shown?: Issuer; usage?: string } = {},
) => {
  const keys = await keyPair();
  const leaf = await x509.X509CertificateGenerator.create({
    subject: 'CN=Server',
    issuer: issuer.certificate.subjectName,
    publicKey: keys.publicKey,
    signingKey: issuer.keys.privateKey,
    notBefore: new Date(Date.now() - 10 * DAY),
    notAfter: new Date(Date.now() + 10 * DAY),
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.ExtendedKeyUsageExtension([usage]),
      new x509.SubjectAlternativeNameExtension([{ type: host === '127.0.0.1' ? 'ip' : 'dns', value: host }]),
    ],
  });
  const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { cert: `${leaf.toString('pem')}\n${shown.certificate.toString('pem')}`, key };
};

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const ending = <T extends Server | TcpServer>(server: T): T => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  cleanUps.push(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  });
  return server;
};

/** An HTTPS server that counts what reaches it. */
const serving = async (
  chain: { cert: string; key: string },
  answer: RequestListener = (_, response) => response.end('ok'),
) => {
  const seen = { connections: 0, resumed: 0, bytes: 0, requests: 0 };
  const server = ending(
    createHttpsServer({ ...chain, minVersion: 'TLSv1.2' }, (request, response) => {
      seen.requests += 1;
      answer(request, response);
    }),
  );
  server.on('connection', () => (seen.connections += 1)).on('tlsClientError', () => undefined);
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.isSessionReused()) seen.resumed += 1;
    socket.on('data', (chunk: Buffer) => (seen.bytes += chunk.length)).on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, seen, origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

const clientOf = (origin: string, pins: readonly string[], now?: () => number) => {
  const client = new PinnedClient({ origin, pins, ...(now ? { now } : {}) });
  cleanUps.push(() => Promise.resolve(client.abandonConnections()));
  return client;
};

const call: HttpCall = { method: 'POST', path: '/v1/check', headers: { authorization: 'Bearer secret' }, body: '{}' };
const failureOf = (request: Promise<unknown>) =>
  request.then(
    () => 'answered',
    (error: unknown) => (error instanceof TransportError ? error.code : error),
  );

let ours: Issuer;
let theirs: Issuer;
beforeAll(async () => {
  [ours, theirs] = await Promise.all([authority(), authority()]);
});

describe('a pinned connection', () => {
  it('speaks TLS 1.3 to a server whose authority is pinned, also by the next pin (N3)', async () => {
    const { origin, seen } = await serving(await chainFrom(ours), (request, response) =>
      response.end((request.socket as TLSSocket).getProtocol()),
    );
    const answer = await clientOf(origin, [pinned(theirs), pinned(ours)]).request(call);
    expect(answer).toMatchObject({ status: 200, body: 'TLSv1.3', pin: pinned(ours) });
    expect(isPin(answer.pin)).toBe(true);
    expect(seen.requests).toBe(1);
  });

  it('does not notice that the server certificate was replaced by another of the same authority', async () => {
    const { server, origin } = await serving(await chainFrom(ours));
    const client = clientOf(origin, [pinned(ours)]);
    await client.request(call);
    server.setSecureContext(await chainFrom(ours));
    client.abandonConnections();
    await expect(client.request(call)).resolves.toMatchObject({ status: 200 });
  });

  it('sends not a byte to a server of another authority (N3)', async () => {
    const { origin, seen } = await serving(await chainFrom(theirs));
    expect(await failureOf(clientOf(origin, [pinned(ours)]).request(call))).toBe('certificate-not-pinned');
    expect(seen).toMatchObject({ connections: 1, bytes: 0, requests: 0 });
  });

  it('is not fooled by a chain that shows the pinned authority without having been signed by it (N3)', async () => {
    // The name of the issuer is the same and the authority's certificate is public: only the signature tells.
    const { origin, seen } = await serving(await chainFrom(theirs, { shown: ours }));
    expect(await failureOf(clientOf(origin, [pinned(ours)]).request(call))).toBe('certificate-not-pinned');
    expect(seen.bytes).toBe(0);
  });

  it.each<[string, Parameters<typeof chainFrom>[1], (() => number) | undefined, string]>([
    ['is for another host', { host: 'other.example' }, undefined, 'certificate-other-host'],
    ['is for a client', { usage: x509.ExtendedKeyUsage.clientAuth }, undefined, 'certificate-untrusted'],
    ['is still to come by our clock', {}, () => 0, 'certificate-not-yet-valid'],
    ['is over by our clock', {}, () => Date.now() + 20 * DAY, 'certificate-expired'],
  ])('sends nothing when the certificate %s (C13)', async (_, options, now, failure) => {
    const { origin, seen } = await serving(await chainFrom(ours, options));
    expect(await failureOf(clientOf(origin, [pinned(ours)], now).request(call))).toBe(failure);
    expect(seen.bytes).toBe(0);
  });

  it('tells nothing about our clock by a certificate of somebody else', async () => {
    const { origin } = await serving(await chainFrom(theirs));
    expect(await failureOf(clientOf(origin, [pinned(ours)], () => 0).request(call))).toBe('certificate-not-pinned');
  });

  it('without pins asks the system, which does not know this authority', async () => {
    const { origin, seen } = await serving(await chainFrom(ours));
    expect(await failureOf(clientOf(origin, []).request(call))).toBe('certificate-untrusted');
    expect(seen.bytes).toBe(0);
  });

  it('refuses TLS 1.2', async () => {
    const server = ending(
      createHttpsServer({ ...(await chainFrom(ours)), maxVersion: 'TLSv1.2' }, (_, answer) => answer.end()),
    );
    server.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await failureOf(clientOf(origin, [pinned(ours)]).request(call))).toBe('unreachable');
  });

  it('refuses an address that is not https', () =>
    expect(() => new PinnedClient({ origin: 'http://127.0.0.1:1', pins: [] })).toThrow('is not https'));
});

describe('kept connections and sessions', () => {
  it('are used again as long as the server keeps them', async () => {
    const { origin, seen } = await serving(await chainFrom(ours));
    const client = clientOf(origin, [pinned(ours)]);
    await client.request(call);
    await client.request(call);
    expect(seen).toMatchObject({ connections: 1, requests: 2 });
  });

  it('resume only what was proven, under the pin that proved it', async () => {
    const { server, origin, seen } = await serving(await chainFrom(ours), (_, response) => {
      response.setHeader('connection', 'close');
      response.end('ok');
    });
    const client = clientOf(origin, [pinned(ours)]);
    await client.request(call);
    const again = await client.request(call);
    expect(again.pin).toBe(pinned(ours));
    expect(seen.resumed).toBe(1);
    client.expect([pinned(theirs)]);
    expect(await failureOf(client.request(call))).toBe('certificate-not-pinned');
    expect(server.listening).toBe(true);
  });

  it('that had silently ended cost one repetition on a new one, and no failure', async () => {
    const { server, origin, seen } = await serving(await chainFrom(ours));
    const client = clientOf(origin, [pinned(ours)]);
    await client.request(call);
    let cut = 1;
    server.prependListener('request', (request) => {
      if ((cut -= 1) >= 0) request.socket.destroy();
    });
    await expect(client.request(call)).resolves.toMatchObject({ status: 200 });
    expect(seen.connections).toBe(2);
  });

  it('that break on their first request are a failure, not a repetition', async () => {
    const { origin, seen } = await serving(await chainFrom(ours), (request) => request.socket.destroy());
    expect(await failureOf(clientOf(origin, [pinned(ours)]).request(call))).toBe('unreachable');
    expect(seen.requests).toBe(1);
  });
});

describe('an answer', () => {
  it('keeps every occurrence of a header, and its media type without parameters (C16)', async () => {
    const { origin } = await serving(await chainFrom(ours), (_, response) => {
      response.writeHead(
        503,
        [
          ['Retry-After', '20'],
          ['Retry-After', '40'],
          ['Content-Type', 'Application/Problem+JSON; charset=utf-8'],
        ].flat(),
      );
      response.end();
    });
    const answer = await clientOf(origin, [pinned(ours)]).request(call);
    expect(answer.header('retry-after')).toEqual(['20', '40']);
    expect(answer.header('nothing')).toEqual([]);
    expect(answer.mediaType).toBe('application/problem+json');
  });

  it('that redirects is an answer and nothing more (O20)', async () => {
    const { origin, seen } = await serving(await chainFrom(ours), (_, response) =>
      response.writeHead(307, { location: '/elsewhere' }).end(),
    );
    await expect(clientOf(origin, [pinned(ours)]).request(call)).resolves.toMatchObject({ status: 307 });
    expect(seen.requests).toBe(1);
  });

  it('that is longer than wanted is cut off', async () => {
    const { origin } = await serving(await chainFrom(ours), (_, response) => response.end('x'.repeat(100_000)));
    expect(await failureOf(clientOf(origin, [pinned(ours)]).request(call))).toBe('answer-too-large');
  });
});

describe('a request that is given up', () => {
  it('ends at once while it waits for a connection that nobody answers, and leaves no socket', async () => {
    const silent = ending(createTcpServer()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const origin = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const over = new AbortController();
    const connected = once(silent, 'connection') as Promise<[Socket]>;
    const request = failureOf(clientOf(origin, [pinned(ours)]).request({ ...call, signal: over.signal }));
    const [socket] = await connected;
    const closed = once(socket, 'close');
    socket.resume();
    over.abort();
    expect(await request).toBe('aborted');
    await closed;
  });

  it('ends at once while it waits for an answer', async () => {
    const over = new AbortController();
    const { origin } = await serving(await chainFrom(ours), () => over.abort());
    expect(await failureOf(clientOf(origin, [pinned(ours)]).request({ ...call, signal: over.signal }))).toBe('aborted');
  });

  it('ends when its connections are abandoned', async () => {
    const asked = Promise.withResolvers<void>();
    const { origin } = await serving(await chainFrom(ours), () => asked.resolve());
    const client = clientOf(origin, [pinned(ours)]);
    const request = failureOf(client.request(call));
    await asked.promise;
    client.abandonConnections();
    expect(await request).toBe('unreachable');
  });
});
