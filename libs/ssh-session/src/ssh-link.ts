import { SystemClock, withDeadline } from '@rollcall/lifetimes';
import type { Socket } from 'node:net';
import type { ClientChannel } from 'ssh2';
import type { Hop } from './hop.js';
import { SocketForward } from './near-forward.js';
import { Link, type CommandResult, type NearEnd, type NearForward } from './ports.js';
import { Room } from './room.js';

/** How long the end of a destroyed link may take, in milliseconds; beyond it the close has failed. */
const CLOSE_LIMIT_MS = 1_000;
/** As much as is kept of each stream of a command, in bytes; the rest is read and dropped, because an unread command never ends. */
const OUTPUT_LIMIT = 1_048_576;

/** The far side did not carry a connection to its socket. */
export class FarSocketRefused extends Error {
  override readonly name = 'FarSocketRefused';
}

/** What was asked of a link that has ended, or ended meanwhile. */
export class LinkEnded extends Error {
  override readonly name = 'LinkEnded';

  constructor() {
    super('The link has ended');
  }
}

/** The hops of a link as they come and go: one sign that any of them has ended, and the end of all. */
export class Hops {
  readonly #over = new AbortController();
  readonly #all: Hop[] = [];

  /** Aborted in the turn of the first sign that a hop has ended. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** To be called when a hop has ended. */
  readonly ended = (): void => this.#over.abort();

  add(hop: Hop): void {
    this.#all.push(hop);
  }

  get inner(): Hop {
    return this.#all.at(-1)!;
  }

  /** The streams that what we send waits in, from this computer on. */
  get sockets(): readonly Hop['sock'][] {
    return this.#all.map(({ sock }) => sock);
  }

  /**
   * Destroys every stream, from the far end on, and waits for the clients. No politeness: on a dead path a word of goodbye waits for ever,
   * and an inner stream alone is a channel that asks the bastion; it is the bastion's own socket that frees it.
   *
   * @throws DeadlineExceeded when that took a second
   */
  async destroy(): Promise<void> {
    for (const { sock } of this.#all.toReversed()) sock.destroy();
    await withDeadline(new SystemClock(), CLOSE_LIMIT_MS, () => Promise.all(this.#all.map(({ closed }) => closed)));
  }
}

/** A link over ssh2, direct or through one bastion. */
export class SshLink extends Link {
  readonly #room: Room;
  readonly #forwards = new Set<SocketForward>();
  #closing: Promise<void> | undefined;

  /**
   * @param socket the TCP socket of the first hop
   * @param onRefused told why a connection of a forward was not carried
   */
  constructor(
    override readonly remoteHost: string,
    private readonly hops: Hops,
    private readonly socket: Socket,
    private readonly onRefused: (error: Error) => void = () => {},
  ) {
    super();
    this.#room = new Room(hops.sockets, hops.over);
    // Before anybody else hears of it, and in the same turn: in the next one ssh2 ends the channels as if all had been said.
    hops.over.addEventListener('abort', () => {
      for (const forward of this.#forwards) forward.cut();
    });
  }

  override get ended(): boolean {
    return this.hops.over.aborted;
  }

  override get bytesRead(): number {
    return this.socket.bytesRead;
  }

  override probe(): Promise<void> {
    return this.#whileAlive((resolve) => {
      // A port that was never forwarded: every server says no, nothing changes, and a no is an answer. After the end the same callback is
      // called with an error, so it is the end that tells them apart.
      this.hops.inner.client.unforwardIn('127.0.0.1', 0, () => resolve());
    });
  }

  override exec(command: string): Promise<CommandResult> {
    return this.#whileAlive((resolve, reject) => {
      this.hops.inner.client.exec(command, (error, channel) => {
        if (error) return reject(error);
        // Nothing will be said to it: a command that reads would wait for that without end.
        channel.end();
        const stdout = kept(channel);
        const stderr = kept(channel.stderr);
        let how: Pick<CommandResult, 'code' | 'signal'> | null = null;
        channel.on('exit', (code: number | null, signal?: string) => {
          how = { code, signal: code === null ? (signal ?? 'unknown') : null };
        });
        channel.once('close', () => {
          if (how) resolve({ ...how, stdout: stdout(), stderr: stderr() });
          else reject(new Error('The command ended without saying how'));
        });
      });
    });
  }

  override async forward(near: NearEnd, farSocketPath: string): Promise<NearForward> {
    if (this.ended) throw new LinkEnded();
    const forward = await SocketForward.listen(near, {
      open: () => this.#openFar(farSocketPath),
      room: this.#room,
      onRefused: this.onRefused,
    });
    this.#forwards.add(forward);
    if (!this.ended) return forward;
    await forward.close();
    throw new LinkEnded();
  }

  override onEnd(listener: () => void): () => void {
    const { over } = this.hops;
    if (over.aborted) {
      listener();
      return () => {};
    }
    over.addEventListener('abort', listener, { once: true });
    return () => over.removeEventListener('abort', listener);
  }

  override close(): Promise<void> {
    this.#closing ??= this.hops.destroy();
    return this.#closing;
  }

  #openFar(farSocketPath: string): Promise<ClientChannel> {
    return this.#whileAlive((resolve, reject) => {
      this.hops.inner.client.openssh_forwardOutStreamLocal(farSocketPath, (error, channel) => {
        if (!error) return resolve(channel);
        reject(
          new FarSocketRefused(
            `The far side does not reach ${farSocketPath}: nobody listens there, or its SSH server forbids forwarding to sockets`,
            { cause: error },
          ),
        );
      });
    });
  }

  /** Rejects in the turn in which the link ends, whatever ssh2 does with what waits; also where ssh2 throws because it has. */
  #whileAlive<T>(work: (resolve: (value: T) => void, reject: (error: Error) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const { over } = this.hops;
      const ended = () => reject(new LinkEnded());
      const settled =
        <Value>(settle: (value: Value) => void) =>
        (value: Value): void => {
          over.removeEventListener('abort', ended);
          settle(value);
        };
      if (over.aborted) return ended();
      over.addEventListener('abort', ended, { once: true });
      try {
        work(settled(resolve), settled(reject));
      } catch (cause) {
        settled(reject)(cause);
      }
    });
  }
}

/** Reads a stream to its end and keeps the beginning. */
const kept = (stream: NodeJS.ReadableStream): (() => string) => {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size < OUTPUT_LIMIT) chunks.push(chunk.subarray(0, OUTPUT_LIMIT - size));
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
};
