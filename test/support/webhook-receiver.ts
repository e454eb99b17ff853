import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { loadOrCreateAuthority } from '@rollcall/plane-ca';

/** What a server shows, and the authority that vouches for it; all PEM. */
export type Shown = { readonly key: string; readonly cert: string; readonly ca: string };

/** Makes an authority in a directory, and has it vouch for these names. */
export const certifiedFor = async (hosts: readonly string[], directory: string): Promise<Shown> => {
  const authority = await loadOrCreateAuthority(directory);
  const { keyPem, certificatePem } = await authority.issueServerCertificate({ hosts });
  return { key: keyPem, cert: certificatePem, ca: authority.certificatePem };
};

/** A request as it arrived. */
export type Received = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Of TLS; null without. */
  readonly serverName: string | null;
  /** How many others were being answered when it came. */
  readonly beside: number;
};

/** What a receiver does with a request: a status, or anything else that it likes. */
export type Behaviour = (
  received: Received,
  answer: ServerResponse,
) => number | undefined | Promise<number | undefined>;

/** A real server that gets webhooks, and behaves as a test wants. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = [];
  /** Connections so far, also those on which nothing was asked. */
  connections = 0;
  behaviour: Behaviour = () => 204;
  #busy = 0;
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly server: http.Server | https.Server,
    private readonly scheme: 'http' | 'https',
  ) {}

  /** @param tls without, it speaks HTTP */
  static async listen(tls?: Shown): Promise<WebhookReceiver> {
    const server = tls ? https.createServer({ key: tls.key, cert: tls.cert }) : http.createServer();
    const receiver = new WebhookReceiver(server, tls ? 'https' : 'http');
    server.on('request', (request: IncomingMessage, answer: ServerResponse) => void receiver.#answer(request, answer));
    server.on('connection', (socket: Socket) => {
      receiver.connections += 1;
      receiver.#sockets.add(socket);
      socket.on('close', () => receiver.#sockets.delete(socket));
      socket.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** @param host a name that the test lets stand for 127.0.0.1 */
  url(path = '/', host = '127.0.0.1'): string {
    return `${this.scheme}://${host}:${this.port}${path}`;
  }

  /** The ids that arrived, in order. */
  ids(): readonly string[] {
    return this.received.map(({ headers }) => headers['webhook-id'] ?? '');
  }

  async #answer(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const beside = this.#busy;
    this.#busy += 1;
    answer.once('close', () => (this.#busy -= 1));
    answer.on('error', () => undefined);
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    const serverName = (request.socket as { servername?: string | false }).servername;
    const received: Received = {
      headers: request.headers as Record<string, string>,
      body,
      serverName: serverName || null,
      beside,
    };
    this.received.push(received);
    const status = await this.behaviour(received, answer);
    if (status !== undefined) answer.writeHead(status).end();
  }

  /** Ends every connection, and the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}
