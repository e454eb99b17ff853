import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { refuseNonLoopback } from './loopback.js';
import { refuseLongSocketPath } from './socket-path.js';

/** What a route answers; `body` becomes JSON. */
export type ControlAnswer = { readonly status: number; readonly body: unknown };

/** `METHOD /path` → what to do with the parsed body (undefined where there is none). */
export type ControlRoutes = Readonly<Record<string, (body: unknown) => ControlAnswer | Promise<ControlAnswer>>>;

/** Where to listen. Anything that is reachable from outside is refused, before and after binding (O1). */
export type ControlAddress = { readonly path: string } | { readonly host: string; readonly port: number };

/** What a control server needs to be given. */
export type ControlServerOptions = {
  readonly address: ControlAddress;
  /** What every request has to bear; see `newControlToken`. */
  readonly token: string;
  readonly routes: ControlRoutes;
  /** Told of a route that threw; the caller got a bare 500. */
  readonly onFault?: (error: unknown) => void;
};

const BODY_LIMIT = 1_048_576;

/** 256 random bits: made at each start of a daemon, and good for that run only. */
export const newControlToken = (): string => randomBytes(32).toString('base64url');

/**
 * The control API of a daemon: HTTP on a UNIX socket that only its owner can open, with a token on every request (O4).
 *
 * Headers up to 8 KiB, bodies up to 1 MiB, ten seconds for either. Whoever bears no token or a wrong one gets the same 401 for every path,
 * so nothing is learned from it.
 */
export class ControlServer {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /**
   * The caller owns the directory (0700) and has proven that nobody listens at this path.
   *
   * @throws ReachableListener, or what `listen` failed with
   */
  static async listen({ address, token, routes, onFault }: ControlServerOptions): Promise<ControlServer> {
    const isBorne = tokenCheck(token);
    const server = createServer(
      { maxHeaderSize: 8_192, headersTimeout: 10_000, requestTimeout: 10_000, connectionsCheckingInterval: 2_000 },
      (request, response) => {
        serve(request, response, isBorne, routes).catch((error: unknown) => {
          onFault?.(error);
          if (response.headersSent) response.destroy();
          else send(response, { status: 500, body: { error: 'The daemon failed; its log says why' } });
        });
      },
    );
    if ('path' in address) refuseLongSocketPath(address.path);
    else refuseNonLoopback({ address: address.host, port: address.port, family: '' });
    await bound(server, address);
    try {
      refuseNonLoopback(server.address());
    } catch (error) {
      server.close();
      throw error;
    }
    return new ControlServer(server);
  }

  /** Ends every connection, also one that never said anything, and resolves when the socket is gone. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

const bound = (server: Server, address: ControlAddress): Promise<void> =>
  new Promise((resolve, reject) => {
    // The mode of a socket is set by `bind`: narrowing it afterwards would leave a moment in which others can connect.
    const before = process.umask(0o177);
    try {
      server.once('error', reject);
      server.listen(address, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(before);
    }
  });

/** Compares digests under a key that nobody knows: constant time, whatever the lengths. */
const tokenCheck = (token: string): ((header: string | undefined) => boolean) => {
  const key = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', key).update(text).digest();
  const expected = digest(`Bearer ${token}`);
  return (header) => timingSafeEqual(digest(header ?? ''), expected);
};

const serve = async (
  request: IncomingMessage,
  response: ServerResponse,
  isBorne: (header: string | undefined) => boolean,
  routes: ControlRoutes,
): Promise<void> => {
  if (!isBorne(request.headers.authorization)) {
    response.setHeader('www-authenticate', 'Bearer');
    return send(response, { status: 401, body: { error: 'A valid local token is needed' } });
  }
  const route = Object.hasOwn(routes, `${request.method} ${request.url}`)
    ? routes[`${request.method} ${request.url}`]
    : undefined;
  if (!route) return send(response, { status: 404, body: { error: 'There is nothing here' } });
  const text = await readBody(request);
  if (text === null) return send(response, { status: 413, body: { error: 'The body is too large' } });
  let body: unknown;
  try {
    body = text === '' ? undefined : JSON.parse(text);
  } catch {
    return send(response, { status: 400, body: { error: 'The body is not JSON' } });
  }
  return send(response, await route(body));
};

const readBody = async (request: IncomingMessage): Promise<string | null> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const send = (response: ServerResponse, { status, body }: ControlAnswer): void => {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  // One request per connection: a kept one would hold the daemon's end up.
  response.setHeader('connection', 'close');
  response.end(JSON.stringify(body));
};
