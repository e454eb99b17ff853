import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { PinnedClient, type HttpAnswer } from '@rollcall/pinned-https';
import type { PlaneAuthority } from '@rollcall/plane-ca';

/** A call of a machine, on its way. */
export type Call = {
  readonly path: string;
  /** null: none was presented. */
  readonly credential: string | null;
  readonly body: { readonly believes?: { readonly generation?: number } };
  /** Which of the instances it goes to. */
  readonly instance: number;
};

const CALL_MS = 30_000;

/**
 * What one machine calls instead of its plane: an address of its own, with a certificate of the plane's authority, that passes each call to the
 * next of some instances. A test sees every call in clear, may hold it, and may lose it or its answer.
 */
export class Door implements AsyncDisposable {
  /** Every call that has arrived, in order. */
  readonly calls: Call[] = [];
  /** Those that were answered with a success, whether or not the answer has arrived. */
  readonly accepted: Call[] = [];
  /** Asked before a call is passed on. false: it is lost, and nobody has heard it. */
  arrives: (call: Call) => boolean | Promise<boolean> = () => true;
  /** Asked before an answer is passed back. false: it is lost, and what was done is done. */
  leaves: (call: Call, answer: HttpAnswer) => boolean | Promise<boolean> = () => true;
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly instances: readonly PinnedClient[],
  ) {
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      // Lost: the caller sees a connection that ends.
      this.#pass(request, response).catch(() => request.socket.destroy());
    });
  }

  static async open(authority: PlaneAuthority, origins: readonly string[]): Promise<Door> {
    const { certificatePem, keyPem } = await authority.issueServerCertificate({ hosts: ['127.0.0.1'] });
    const server = createServer({ cert: certificatePem, key: keyPem, minVersion: 'TLSv1.3' });
    const door = new Door(
      server,
      origins.map((origin) => new PinnedClient({ origin, pins: [authority.pin] })),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return door;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Every call is lost from now on. */
  shut(): void {
    this.arrives = () => false;
  }

  /** Nothing is held or lost any more. */
  letPass(): void {
    this.arrives = () => true;
    this.leaves = () => true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const client of this.instances) client.abandonConnections();
    await once(this.server, 'close');
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const body = await text(request);
    const call: Call = {
      path,
      credential: headers.authorization?.replace(/^Bearer /, '') ?? null,
      body: JSON.parse(body) as Call['body'],
      instance: this.calls.length % this.instances.length,
    };
    this.calls.push(call);
    const instance = this.instances[call.instance];
    if (!instance || !(await this.arrives(call))) throw new Error('lost on the way');
    const answer = await instance.request({
      method: method as 'POST',
      path,
      headers: {
        'content-type': 'application/json',
        ...(call.credential === null ? {} : { authorization: `Bearer ${call.credential}` }),
      },
      body,
      signal: AbortSignal.timeout(CALL_MS),
    });
    if (answer.status < 300) this.accepted.push(call);
    if (!(await this.leaves(call, answer))) throw new Error('lost on the way back');
    response.setHeader('content-type', answer.mediaType);
    const [retryAfter] = answer.header('retry-after');
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
    response.statusCode = answer.status;
    response.end(answer.body);
  }
}
