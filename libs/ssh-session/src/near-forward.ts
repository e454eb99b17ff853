import { lstat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { ensurePrivateDirectory } from '@rollcall/secret-file';
import type { ClientChannel } from 'ssh2';
import { NearForward, type NearAddress, type NearEnd } from './ports.js';
import type { Room } from './room.js';

/** Longest path of a UNIX socket on Linux, in bytes; Node would cut a longer one off without a word. */
const SOCKET_PATH_LIMIT = 107;

/** A near end cannot listen where it was told to. */
export class NearEndUnusable extends Error {
  override readonly name = 'NearEndUnusable';
}

/** What a forward needs of its link. */
export type ForwardRoute = {
  /** Opens a channel to the far socket. @throws where the link has ended or the far side says no */
  open(): Promise<ClientChannel>;
  readonly room: Room;
  /** Told why a connection was not carried. */
  readonly onRefused: (error: Error) => void;
};

/** A forward whose near end is a socket of this computer: loopback or a UNIX socket of the owner, nothing that others could reach. */
export class SocketForward extends NearForward {
  readonly #ends = new Set<Socket>();
  #closing: Promise<void> | undefined;

  private constructor(
    private readonly server: Server,
    private readonly route: ForwardRoute,
    override readonly address: NearAddress,
  ) {
    super();
    server.on('connection', (end) => void this.#carry(end));
    // It goes on listening where it could not take a connection, such as for want of file descriptors; unheard, that would end the process.
    server.on('error', (error) => route.onRefused(error));
  }

  /** @throws NearEndUnusable, UnsafeFile, or what `listen` failed with */
  static async listen(near: NearEnd, route: ForwardRoute): Promise<SocketForward> {
    // Half-open, so that a client may say that it has nothing more to send and still get its answer.
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    if (near.kind === 'unix') await prepare(near.path);
    await bound(server, near);
    const address = server.address();
    return new SocketForward(
      server,
      route,
      typeof address === 'object' && address
        ? { kind: 'tcp', host: '127.0.0.1', port: address.port }
        : (near as NearAddress),
    );
  }

  /**
   * Cuts what was accepted, in this turn. Over TCP by a reset: when a link dies, ssh2 ends its channels as if all had been said, and
   * whoever reads at the near end could not tell.
   */
  cut(): void {
    for (const end of this.#ends) this.#abandon(end);
  }

  override close(): Promise<void> {
    this.#closing ??= new Promise<void>((resolve, reject) => {
      // Refuse first; its callback waits for the ends, so they are cut before anybody waits.
      this.server.close((error) => (error ? reject(error) : resolve()));
      this.cut();
    });
    return this.#closing;
  }

  async #carry(end: Socket): Promise<void> {
    this.#ends.add(end);
    const over = new AbortController();
    // The reason is heard elsewhere: the end closes after it.
    end.on('error', () => {});
    end.once('close', () => {
      this.#ends.delete(end);
      over.abort();
    });
    let channel: ClientChannel;
    try {
      channel = await this.route.open();
    } catch (error) {
      this.route.onRefused(error as Error);
      return this.#abandon(end);
    }
    if (end.destroyed) channel.close();
    // How an end ends while it is read has been heard: it closes.
    else await this.#join(end, channel, over.signal).catch(() => undefined);
  }

  /** Carries both ways until both have said all, or one is gone. */
  async #join(end: Socket, channel: ClientChannel, over: AbortSignal): Promise<void> {
    channel.on('error', () => this.#abandon(end));
    over.addEventListener('abort', () => channel.close());
    channel.once('close', () => {
      // The far side is gone: what it said still arrives, what is said to it has nowhere to go.
      end.destroySoon();
    });
    channel.pipe(end);
    for await (const chunk of end.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      await this.route.room.enter();
      if (over.aborted) return;
      await written(channel, chunk, over);
    }
    channel.end();
  }

  #abandon(end: Socket): void {
    // A UNIX socket knows no reset: whoever reads there has to frame what is said.
    if (this.address.kind === 'tcp') end.resetAndDestroy();
    else end.destroy();
  }
}

/** Resolves when a chunk has left for the link, or will never do so: ssh2 forgets the callbacks of a channel that has ended. */
const written = (channel: ClientChannel, chunk: Buffer, over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    // The listener goes with its chunk: one that stayed would keep everything that was ever sent in memory.
    const done = () => {
      over.removeEventListener('abort', done);
      resolve();
    };
    over.addEventListener('abort', done, { once: true });
    channel.write(chunk, done);
  });

/** A path in a directory that is the owner's alone, under which nobody answers. A socket that is left over is removed; nothing else is. */
const prepare = async (path: string): Promise<void> => {
  const length = Buffer.byteLength(path);
  if (length > SOCKET_PATH_LIMIT)
    throw new NearEndUnusable(`${path} is ${length} bytes long, and a socket's path has ${SOCKET_PATH_LIMIT} at most`);
  await ensurePrivateDirectory(dirname(path));
  const stats = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (stats === null) return;
  if (!stats.isSocket()) throw new NearEndUnusable(`${path} is there already, and is no socket`);
  if (!(await refuses(path))) throw new NearEndUnusable(`Somebody listens at ${path} already`);
  await unlink(path);
};

const refuses = (path: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNREFUSED' ? resolve(true) : reject(error),
    );
  });

const bound = (server: Server, near: NearEnd): Promise<void> =>
  new Promise((resolve, reject) => {
    // The mode of a socket is set by `bind`: narrowing it afterwards would leave a moment in which others can connect.
    const before = process.umask(0o177);
    try {
      server.once('error', reject);
      server.listen(near.kind === 'unix' ? { path: near.path } : { host: '127.0.0.1', port: 0 }, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(before);
    }
  });
