import {
  Feed,
  FeedMessageTooLarge,
  FeedReader,
  FeedUnavailable,
  MESSAGE_LIMIT_BYTES,
  type Delivery,
  type FeedMessage,
  type FeedStatus,
} from '../feed.js';
import { BATCH_SUBJECT, placeOfEventId, placeOfMessageId, type EventPlace, type FeedPlace } from '../names.js';

/** The part of a clock that passes time here; any clock of the plane is one. */
export type PassingTime = {
  /** Milliseconds since some moment. */
  monotonic(): number;
  /** Resolves after that many milliseconds, or when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** Milliseconds until what was taken and not acknowledged comes again. */
const ACKNOWLEDGE_WITHIN = 30_000;

type Share = {
  readonly readers: Set<FeedReader>;
  readonly waiting: FeedMessage[];
  readonly taken: Map<FeedMessage, number>;
  bell: () => void;
};

/**
 * A feed in memory, with the manners of the real one: ids are told apart, what is not acknowledged in time comes again, and instances of
 * one reader share what comes. A test can take it away, wipe it, and deliver whatever it likes.
 */
export class InMemoryFeed extends Feed {
  /** What it holds, oldest first. */
  stored: FeedMessage[] = [];
  /** True: nothing gets through, in either direction. */
  away = false;
  /** Set: `prepare` fails with it. */
  refusal: Error | null = null;
  /** How often a connection was made; a test counts it up where a server came back between two looks. */
  connections = 1;
  /** How often `prepare` was asked. */
  prepared = 0;
  readonly #shares = new Map<string, Share>();

  constructor(private readonly clock: PassingTime) {
    super();
  }

  override prepare(): Promise<void> {
    this.prepared += 1;
    if (this.refusal) return Promise.reject(this.refusal);
    return this.away ? Promise.reject(unreachable()) : Promise.resolve();
  }

  override publish(messages: readonly FeedMessage[]): Promise<void> {
    if (this.away) return Promise.reject(unreachable());
    const tooLarge = messages.find(({ body }) => Buffer.byteLength(body) > MESSAGE_LIMIT_BYTES);
    if (tooLarge) return Promise.reject(new FeedMessageTooLarge(tooLarge));
    for (const message of messages) {
      if (this.stored.some(({ id, subject }) => id === message.id && subject === message.subject)) continue;
      this.stored.push(message);
      if (message.subject === BATCH_SUBJECT) for (const share of this.#shares.values()) send(share, message);
    }
    return Promise.resolve();
  }

  override newest(): Promise<FeedPlace | null> {
    if (this.away) return Promise.reject(unreachable());
    const newest = this.stored.findLast(({ subject }) => subject === BATCH_SUBJECT);
    return Promise.resolve(newest ? placeOfMessageId(newest.id) : null);
  }

  override newestEvent(): Promise<EventPlace | null> {
    if (this.away) return Promise.reject(unreachable());
    const newest = this.stored.findLast(({ subject }) => subject !== BATCH_SUBJECT);
    return Promise.resolve(newest ? placeOfEventId(newest.id) : null);
  }

  override read(reader: string): FeedReader {
    const share = this.#shares.get(reader) ?? {
      readers: new Set(),
      waiting: [],
      taken: new Map(),
      bell: () => undefined,
    };
    this.#shares.set(reader, share);
    const begun = new InMemoryReader(share, this.clock, () => this.away);
    share.readers.add(begun);
    return begun;
  }

  override status(): FeedStatus {
    return { connected: !this.away, connections: this.connections, problem: this.refusal?.message ?? null };
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }

  /** Delivers to all instances of a reader what a broken, slow or restored server might: anything, in any order, any number of times. */
  deliver(reader: string, ...messages: readonly FeedMessage[]): void {
    const share = this.#shares.get(reader);
    for (const message of messages) if (share) send(share, { ...message });
  }

  /** Forgets everything that is stored and what waits. */
  wipe(): void {
    this.stored = [];
    for (const share of this.#shares.values()) {
      share.waiting.length = 0;
      share.taken.clear();
    }
  }

  /** How many instances of a reader have not ended their share. */
  reading(reader: string): number {
    return this.#shares.get(reader)?.readers.size ?? 0;
  }

  /** What a reader has been given and has not acknowledged, and what waits for it. */
  pending(reader: string): number {
    const share = this.#shares.get(reader);
    return share ? share.waiting.length + share.taken.size : 0;
  }
}

class InMemoryReader extends FeedReader {
  #closed = false;

  constructor(
    private readonly share: Share,
    private readonly clock: PassingTime,
    private readonly isAway: () => boolean,
  ) {
    super();
  }

  override async take(limit: number, waitMs: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    this.#returnLate();
    if (this.share.waiting.length === 0 || this.isAway()) {
      const awake = new AbortController();
      const wake = (): void => awake.abort();
      signal.addEventListener('abort', wake);
      this.share.bell = wake;
      await this.clock.sleep(waitMs, awake.signal);
      signal.removeEventListener('abort', wake);
      this.share.bell = () => undefined;
      this.#returnLate();
    }
    if (signal.aborted || this.#closed || this.isAway()) return [];
    return this.share.waiting.splice(0, limit).flatMap((message) => {
      const place = placeOfMessageId(message.id);
      if (place === null) return [];
      this.share.taken.set(message, this.clock.monotonic());
      return [{ ...place, body: message.body, ack: () => void this.share.taken.delete(message) }];
    });
  }

  override close(): Promise<void> {
    this.#closed = true;
    this.share.readers.delete(this);
    return Promise.resolve();
  }

  #returnLate(): void {
    for (const [message, since] of this.share.taken) {
      if (this.clock.monotonic() - since < ACKNOWLEDGE_WITHIN) continue;
      this.share.taken.delete(message);
      this.share.waiting.push(message);
    }
  }
}

const send = (share: Share, message: FeedMessage): void => {
  share.waiting.push(message);
  share.bell();
};

const unreachable = (): FeedUnavailable => new FeedUnavailable('The feed is away');
