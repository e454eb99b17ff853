import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** What a path does to the bytes of one connection, read anew for each chunk. */
type Terms = { readonly delayMs: number; readonly bytesPerSecond: number; readonly isHeld: boolean };

/** As much as a router keeps of what does not fit on a narrow path yet; beyond it the sender has to wait. */
const ROOM = 65_536;

/** One direction of one connection: what was said arrives in order, as late and as slowly as the terms are at that time. */
class Way {
  readonly #late: { readonly chunk: Buffer | null; readonly due: number }[] = [];
  /** When the last byte so far has left for the other side. */
  #free = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly from: Socket,
    private readonly to: Socket,
    private readonly terms: () => Terms,
  ) {}

  /** @param chunk null: the end */
  pass(chunk: Buffer | null): void {
    const { delayMs, bytesPerSecond } = this.terms();
    const now = performance.now();
    this.#free = Math.max(this.#free, now) + ((chunk?.length ?? 0) / bytesPerSecond) * 1_000;
    const due = Math.max(this.#free + delayMs, this.#late.at(-1)?.due ?? 0);
    this.#late.push({ chunk, due });
    this.settle();
  }

  /** Lets arrive what is due, waits for the rest, and lets the sender go on or wait. */
  settle(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const { isHeld, bytesPerSecond } = this.terms();
    const now = performance.now();
    const isDue = ({ due }: { readonly due: number }) => !isHeld && due <= now;
    for (let first = this.#late[0]; first && isDue(first); first = this.#late[0]) {
      const { chunk } = first;
      this.#late.shift();
      if (chunk === null) this.to.end();
      else this.to.write(chunk);
    }
    const next = this.#late[0];
    if (next && !isHeld) this.#timer = setTimeout(() => this.settle(), Math.max(1, next.due - now));
    const isFull = ((this.#free - now) / 1_000) * bytesPerSecond > ROOM;
    if (isHeld || isFull || this.to.writableNeedDrain) this.from.pause();
    else this.from.resume();
  }

  forget(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#late.length = 0;
  }
}

/**
 * A TCP proxy in front of a server: it can lose the server's answer, be late or narrow, go silent without closing, hold everything and
 * go on again, or reset.
 */
export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Set<Socket>();
  readonly #ways = new Set<Way>();
  #silent = new WeakSet<Socket>();
  #isHeld = false;
  #delayMs = { there: 0, back: 0 };
  #bytesPerSecond = Infinity;
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

  /**
   * A dead path: no byte, no end and no reset passes, in either direction, on the connections that are open and those to come. Nothing is
   * lost, as the sender's TCP would send it again: `heal` lets it arrive.
   */
  hold(): void {
    this.#isHeld = true;
    for (const way of this.#ways) way.settle();
  }

  heal(): void {
    this.#isHeld = false;
    for (const way of this.#ways) way.settle();
  }

  /** Tells every client that the server has nothing more to say, whatever is on its way to the server. */
  endAnswers(): void {
    for (const client of this.#clients) client.end();
  }

  /** Ends every connection with a reset, to both sides. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** What the server says from now on arrives that many milliseconds later, on every connection and in order. 0: as fast as it can. */
  delayAnswers(milliseconds: number): void {
    this.#delayMs = { there: 0, back: milliseconds };
  }

  /** From now on a round trip takes that many milliseconds more, and each direction of each connection carries so many bytes a second. */
  narrow({ roundTripMs, bytesPerSecond }: { readonly roundTripMs: number; readonly bytesPerSecond: number }): void {
    this.#delayMs = { there: roundTripMs / 2, back: roundTripMs / 2 };
    this.#bytesPerSecond = bytesPerSecond;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket): void {
    const server = connect({ ...this.target, allowHalfOpen: true });
    let losing: (() => void) | null = null;
    const termsOf = (direction: 'there' | 'back') => (): Terms => ({
      delayMs: this.#delayMs[direction],
      bytesPerSecond: this.#bytesPerSecond,
      isHeld: this.#isHeld,
    });
    const there = new Way(client, server, termsOf('there'));
    const back = new Way(server, client, termsOf('back'));
    const cut = () => {
      for (const way of [there, back]) {
        way.forget();
        this.#ways.delete(way);
      }
      client.destroy();
      server.destroy();
    };
    for (const way of [there, back]) this.#ways.add(way);
    this.#clients.add(client);
    client.once('close', () => this.#clients.delete(client));
    for (const [socket, way, other] of [
      [client, there, back],
      [server, back, there],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', cut);
      socket.on('drain', () => other.settle());
      socket.on('end', () => (this.#silent.has(client) ? undefined : way.pass(null)));
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
      there.pass(chunk);
    });
    server.on('data', (chunk) => {
      if (this.#silent.has(client)) return;
      if (!losing) return back.pass(chunk);
      cut();
      losing();
    });
    for (const way of [there, back]) way.settle();
  }
}
