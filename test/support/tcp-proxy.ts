import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy in front of a server, that can lose the server's answer, delay what it says, or go silent without closing. */
export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #silent = new WeakSet<Socket>();
  #delayMs = 0;
  #lose: { readonly request: string; readonly lost: () => void } | null = null;

  private constructor(
    private readonly target: { readonly host: string; readonly port: number },
    server: Server,
  ) {
    this.#server = server;
    server.on('connection', (client) => this.#join(client));
  }

  /** Listens on a free port of the loopback. */
  static async listen(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(target, server);
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  /** The same address with this proxy in between. */
  through(url: string): string {
    const own = new URL(url);
    own.hostname = '127.0.0.1';
    own.port = String(this.port);
    return own.toString();
  }

  /**
   * Lets the next request that contains `request` pass, swallows what the server answers, and cuts the connection. Resolves when
   * it has: the server has done its work by then, and nobody was told.
   */
  loseAnswerTo(request: string): Promise<void> {
    return new Promise((lost) => {
      this.#lose = { request, lost };
    });
  }

  /** Nothing passes any more on the connections that are open, in either direction, and none of them closes. */
  silence(): void {
    for (const socket of this.#sockets) this.#silent.add(socket);
  }

  /** What the server says from now on arrives that many milliseconds later, on every connection and in order. 0: as fast as it can. */
  delayAnswers(milliseconds: number): void {
    this.#delayMs = milliseconds;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket): void {
    const server = connect(this.target);
    let losing: (() => void) | null = null;
    const late: { readonly chunk: Buffer; readonly timer: NodeJS.Timeout; readonly due: number }[] = [];
    /** Nothing overtakes what is under way: whichever timer fires, the oldest goes. */
    const pass = (chunk: Buffer) => {
      const now = performance.now();
      const due = Math.max(now + this.#delayMs, late.at(-1)?.due ?? 0);
      if (late.length === 0 && due <= now) return void client.write(chunk);
      const timer = setTimeout(() => client.write(late.shift()?.chunk ?? ''), due - now);
      late.push({ chunk, timer, due });
    };
    const cut = () => {
      for (const { timer } of late.splice(0)) clearTimeout(timer);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        cut();
      });
    }
    client.on('data', (chunk) => {
      if (this.#silent.has(client)) return;
      if (this.#lose && chunk.includes(this.#lose.request)) {
        losing = this.#lose.lost;
        this.#lose = null;
      }
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (this.#silent.has(client)) return;
      if (!losing) return pass(chunk);
      cut();
      losing();
    });
  }
}
