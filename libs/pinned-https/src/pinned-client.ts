import { Agent, request, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { proveServerIdentity } from './server-identity.js';
import { asTransportError, TransportError } from './transport-error.js';

/** Where to, and whom to expect there. */
export type PinnedClientOptions = {
  /** `https://host:port` */
  readonly origin: string;
  /**
   * The authority's keys to expect. Empty: the system's store decides, as for any public address; never no check at all.
   */
  readonly pins: readonly string[];
  /** The wall clock, in milliseconds since 1970, for the dates of a pinned certificate. (Default: `Date.now`) */
  readonly now?: () => number;
};

/** One request; repeatable, because it may be sent twice (see `PinnedClient`). */
export type HttpCall = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, beginning with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, with its length. */
  readonly body?: string | Uint8Array;
  /** Gives the request up, in whatever phase it is. */
  readonly signal?: AbortSignal;
  /** Bytes of an answer's body that are read before the call fails. (Default: 65,536) */
  readonly answerLimit?: number;
};

/** What came back. Redirects are answers like any other; they are never followed. */
export type HttpAnswer = {
  readonly status: number;
  /** Lower case, without parameters; empty where the answer names none. */
  readonly mediaType: string;
  /** Every occurrence of a header, in order; Node's joined view drops the second `Retry-After`. */
  header(name: string): readonly string[];
  readonly body: string;
  /** The pin that the connection was proven by; null when the system's store was asked. */
  readonly pin: string | null;
};

/** An answer that goes on for as long as both sides like. */
export type HttpStream = Omit<HttpAnswer, 'body'> & {
  /** Its text as it arrives, cut anywhere. Whoever stops reading ends the connection. @throws TransportError */
  readonly text: AsyncIterable<string>;
};

type Session = { readonly bytes: Buffer; readonly pin: string | null; readonly until: number };

/**
 * HTTPS to one origin whose authority is pinned: TLS 1.3, and not a byte of a request before the server's identity is proven (N3).
 *
 * Connections are kept as long as the server keeps them; sessions are resumed only with what a proven connection gave us. A request
 * that fails because a kept connection had silently ended is repeated once on a new one, so callers' requests must be repeatable.
 * There is no deadline in here: a caller's signal is the deadline.
 */
export class PinnedClient {
  readonly #origin: URL;
  readonly #now: () => number;
  #pins: readonly string[];
  #agent: VerifyingAgent;

  constructor({ origin, pins, now = Date.now }: PinnedClientOptions) {
    this.#origin = new URL(origin);
    if (this.#origin.protocol !== 'https:') throw new Error(`${this.#origin.protocol} is not https:`);
    this.#now = now;
    this.#pins = pins;
    this.#agent = this.#newAgent();
  }

  /** Other pins from now on. Connections that are up were proven by the old ones and stay. */
  expect(pins: readonly string[]): void {
    this.#pins = pins;
  }

  /** Ends every connection and forgets sessions: after a sleep they lead nowhere, and at the end nobody wants them. */
  abandonConnections(): void {
    this.#agent.destroy();
    this.#agent = this.#newAgent();
  }

  /** @throws TransportError */
  request(call: HttpCall): Promise<HttpAnswer> {
    return this.#repeatably(async () => {
      const { answer, head } = await this.#attempt(call);
      try {
        return { ...head, body: await read(answer, call.answerLimit ?? 65_536) };
      } catch (error) {
        throw asTransportError(error, call.signal);
      }
    });
  }

  /** The same, for an answer without an end: resolves with its head. @throws TransportError */
  stream(call: Omit<HttpCall, 'answerLimit'>): Promise<HttpStream> {
    return this.#repeatably(async () => {
      const { answer, head } = await this.#attempt(call);
      return { ...head, text: pieces(answer, call.signal) };
    });
  }

  async #repeatably<Result>(attempt: () => Promise<Result>): Promise<Result> {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof StaleConnection) return attempt();
      throw error;
    }
  }

  #newAgent(): VerifyingAgent {
    return new VerifyingAgent(this.#origin, () => this.#pins, this.#now);
  }

  #attempt(call: HttpCall): Promise<{ readonly answer: IncomingMessage; readonly head: Omit<HttpAnswer, 'body'> }> {
    const { signal, body } = call;
    const agent = this.#agent;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(asTransportError(signal.reason, signal));
      const outgoing = request({
        host: bare(this.#origin.hostname),
        port: this.#origin.port || 443,
        method: call.method,
        path: call.path,
        headers: { ...call.headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
        agent,
        // Node keeps `signal` from agents, and a connection that nobody answers has to end with its request.
        ...(signal ? { signal, givenUp: signal } : {}),
      });
      outgoing.on('error', (error) => {
        const failure = asTransportError(error, signal);
        reject(outgoing.reusedSocket && failure.code === 'unreachable' ? new StaleConnection(failure) : failure);
      });
      outgoing.on('response', (answer) =>
        resolve({
          answer,
          head: {
            status: answer.statusCode ?? 0,
            mediaType: (answer.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '',
            header: (name) => answer.headersDistinct[name.toLowerCase()] ?? [],
            pin: agent.pinOf(answer.socket),
          },
        }),
      );
      outgoing.end(body);
      return undefined;
    });
  }
}

/** A kept connection had ended before the request reached anybody. Never leaves this file. */
class StaleConnection extends TransportError {
  constructor(cause: TransportError) {
    super(cause.code, cause.message, { cause });
  }
}

const read = async (answer: IncomingMessage, limit: number): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      answer.destroy();
      throw new TransportError('answer-too-large', `The answer is longer than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

async function* pieces(answer: IncomingMessage, signal: AbortSignal | undefined): AsyncGenerator<string> {
  answer.setEncoding('utf8');
  try {
    yield* answer as AsyncIterable<string>;
  } catch (error) {
    throw asTransportError(error, signal);
  }
}

let context: SecureContext | null = null;
/** One for all connections: each of its own would read the system's store anew, which costs more than a handshake. */
const secureContext = (): SecureContext => (context ??= createSecureContext({ minVersion: 'TLSv1.3' }));

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

class VerifyingAgent extends Agent {
  readonly #origin: URL;
  readonly #pins: () => readonly string[];
  readonly #now: () => number;
  readonly #proven = new WeakMap<object, { pin: string | null; until: number }>();
  readonly #connecting = new Set<TLSSocket>();
  #session: Session | null = null;

  constructor(origin: URL, pins: () => readonly string[], now: () => number) {
    super({ keepAlive: true, maxCachedSessions: 0 });
    this.#origin = origin;
    this.#pins = pins;
    this.#now = now;
  }

  pinOf(socket: object): string | null {
    return this.#proven.get(socket)?.pin ?? null;
  }

  override destroy(): void {
    for (const socket of this.#connecting) socket.destroy();
    this.#session = null;
    super.destroy();
  }

  /** Hands a socket over only when it is proven; until then no request can write to it. */
  override createConnection(
    options: RequestOptions & { givenUp?: AbortSignal },
    callback: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const host = bare(this.#origin.hostname);
    const pins = this.#pins();
    const resumable = this.#resumable(pins);
    const socket = connect({
      host,
      port: Number(this.#origin.port || 443),
      ...(isIP(host) ? {} : { servername: host }),
      secureContext: secureContext(),
      ALPNProtocols: ['http/1.1'],
      // With pins the proof is ours, below. Without, Node refuses by the system's store before `secureConnect`.
      rejectUnauthorized: pins.length === 0,
      ...(resumable ? { session: resumable.bytes } : {}),
    });
    this.#connecting.add(socket);
    const giveUp = () => socket.destroy(new TransportError('aborted', 'The request was given up'));
    options.givenUp?.addEventListener('abort', giveUp, { once: true });
    const settle = (error: Error | null) => {
      this.#connecting.delete(socket);
      options.givenUp?.removeEventListener('abort', giveUp);
      socket.off('error', settle).off('close', onClose);
      if (error) {
        // The socket may still report what the destruction did to it.
        socket.on('error', () => undefined);
        socket.destroy();
      }
      callback(error, socket);
    };
    const onClose = () => settle(new TransportError('unreachable', 'The connection was closed before it was up'));
    socket.once('error', settle).once('close', onClose);
    socket.once('secureConnect', () => {
      try {
        this.#proven.set(socket, this.#prove(socket, host, pins, resumable));
        settle(null);
      } catch (error) {
        settle(error as Error);
      }
    });
    socket.on('session', (bytes: Buffer) => {
      const proof = this.#proven.get(socket);
      if (proof) this.#session = { bytes, ...proof };
    });
    return undefined;
  }

  #prove(
    socket: TLSSocket,
    host: string,
    pins: readonly string[],
    resumed: Session | null,
  ): { pin: string | null; until: number } {
    // Whoever can resume a session holds the secret of a connection that was proven; it presents no chain again.
    if (resumed && socket.isSessionReused()) return { pin: resumed.pin, until: resumed.until };
    const presented = socket.getPeerCertificate(true);
    const until = Date.parse(presented.valid_to);
    if (pins.length === 0) return { pin: null, until };
    return { pin: proveServerIdentity(presented, { host, pins, now: this.#now() }), until };
  }

  #resumable(pins: readonly string[]): Session | null {
    const session = this.#session;
    if (!session || this.#now() > session.until) return null;
    const stillExpected = session.pin === null ? pins.length === 0 : pins.includes(session.pin);
    return stillExpected ? session : null;
  }
}
