import type { Writable } from 'node:stream';

/** As much as may wait in our own queue, in bytes: a probe has to wait behind all of it. */
const QUEUE_LIMIT = 262_144;
const NOTHING = Buffer.alloc(0);

/**
 * The room in front of a link, shared by all that is uploaded through it. ssh2 writes on whatever its socket says, so without this a
 * probe would wait behind everything that the near ends can produce.
 */
export class Room {
  #turn: Promise<void> = Promise.resolve();

  /** @param over aborted when the link has ended, which lets everybody go */
  constructor(
    private readonly sockets: readonly Writable[],
    private readonly over: AbortSignal,
  ) {}

  /** Resolves when one chunk may be written, to one caller after the other. Write it before anything else is awaited. */
  enter(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#emptied());
    return this.#turn;
  }

  async #emptied(): Promise<void> {
    for (;;) {
      const fullest = this.sockets.toSorted((one, other) => other.writableLength - one.writableLength)[0];
      const waiting = this.sockets.reduce((sum, { writableLength }) => sum + writableLength, 0);
      if (!fullest || waiting <= QUEUE_LIMIT || this.over.aborted) return;
      await this.#left(fullest);
    }
  }

  /** Not `drain`, which a channel emits only beyond two megabytes: nothing is called back when all before it has left. */
  #left(socket: Writable): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.over.removeEventListener('abort', done);
        resolve();
      };
      this.over.addEventListener('abort', done, { once: true });
      socket.write(NOTHING, done);
    });
  }
}
