import { UNTRACED, type Batch, type EventStore, type TraceBatches } from '@rollcall/event-store';
import type { Feed, FeedReader } from '@rollcall/feed';
import { Bell, SystemClock, type Clock } from '@rollcall/lifetimes';
import type { ApplyStep } from './apply.js';
import { sortArrivals } from './arrivals.js';

/** The side of the record that a reader needs. */
export type RecordReader = Pick<EventStore, 'readBatches' | 'newest' | 'epoch' | 'onAppended'>;

/** Where a follower tells what it does; a pino logger is one. */
export type FollowLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** A batch of the record, as a reader knows where it stands. */
export type BatchPlace = {
  readonly epoch: string;
  /** The newest batch that was applied; 0n before the first. */
  readonly checkpoint: bigint;
};

/**
 * What is moved along the record. It keeps its place in the transactions in which it applies batches, so any number of instances may move
 * it: one of them is faster.
 */
export interface Followed<At extends BatchPlace> {
  /** For people, and for the feed, which keeps a place of its own by it. */
  readonly name: string;
  /**
   * Where it stands, compared with the record; it may begin anew there. The newest batch is read after the place, so that being ahead of it
   * can only mean that the record lost something.
   *
   * @returns no place when another instance moved it at the same moment
   */
  look(record: RecordReader): Promise<{ readonly place: At | null; readonly newest: bigint }>;
  /**
   * Applies whole batches in order and moves the place, in one transaction.
   *
   * @param batches what follows the place, without a hole; what was seen before is passed over
   * @returns the new place; null when it is not at `place` any more, and then nothing was changed
   */
  apply(place: At, batches: readonly Batch[], reached: (step: ApplyStep) => void): Promise<At | null>;
}

/** What a follower works with. */
export type FollowRecordOptions<At extends BatchPlace> = {
  readonly followed: Followed<At>;
  readonly store: RecordReader;
  readonly log: FollowLog;
  /** Brings batches without the record being asked for them. (Default: null, and the record is followed itself) */
  readonly feed?: Pick<Feed, 'read'> | null;
  /** Batches that are read at once and share a transaction. (Default: 100) */
  readonly batchesAtOnce?: number;
  /** Milliseconds between two looks while nothing happens. (Default: 1,000) */
  readonly lookEvery?: number;
  /** Milliseconds that a recorded batch may take to come by the feed; then it is read from the record. (Default: 2,000) */
  readonly patience?: number;
  readonly clock?: Clock;
  /** Is told about each step; only tests listen, to end a process between two of them. */
  readonly reached?: (step: FollowStep) => void;
  /** Follows batches while they are applied. (Default: none) */
  readonly trace?: TraceBatches;
};

/** What a follower does with what has arrived. */
export type FollowStep = 'taken' | ApplyStep | 'acknowledged';

/** What a follower says of itself. */
export type FollowStatus<At extends BatchPlace = BatchPlace> = {
  readonly name: string;
  /** null before the first look, and after a failure until the next. */
  readonly place: At | null;
  /** What went wrong last, while it lasts. */
  readonly failure: string | null;
  /** How often another instance was faster. */
  readonly overtaken: number;
  /** Batches applied since the start, by where they came from. */
  readonly applied: { readonly feed: number; readonly record: number };
};

/** A batch that is recorded, and since when that is known. */
type Awaited = { readonly number: bigint; readonly since: number };

const LONGEST_PAUSE = 5_000;
/** Of what a feed has delivered, applied at once. */
const DELIVERIES_AT_ONCE = 64;

/**
 * Moves something along the record, a read model for example, until it is told to stop. Any number of instances may run: the checkpoint
 * decides whose transaction counts.
 *
 * With a feed, batches are applied as they arrive. The feed is never believed: what was seen is passed over, what is missing in between
 * is read from the record, and so is everything that the record has and that has not arrived in time. So with the feed away, wiped or
 * restored it is late by seconds, and right.
 */
export class RecordFollower<At extends BatchPlace> {
  readonly #options: Required<FollowRecordOptions<At>>;
  readonly #bell: Bell;
  #place: At | null = null;
  /** Up to here the record is read, whatever the feed brings. */
  #readUpTo = 0n;
  #awaited: Awaited | null = null;
  #applied = { feed: 0, record: 0 };
  #lookedAt = 0;
  #failure: string | null = null;
  #overtaken = 0;

  constructor(options: FollowRecordOptions<At>) {
    this.#options = {
      feed: null,
      batchesAtOnce: 100,
      lookEvery: 1_000,
      patience: 2_000,
      clock: new SystemClock(),
      reached: () => undefined,
      trace: UNTRACED,
      ...options,
    };
    this.#bell = new Bell(this.#options.clock);
  }

  status(): FollowStatus<At> {
    const { name } = this.#options.followed;
    return {
      name,
      place: this.#place,
      failure: this.#failure,
      overtaken: this.#overtaken,
      applied: { ...this.#applied },
    };
  }

  /** Runs until `signal` aborts; a transaction that has begun is ended first. Never rejects: what fails is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, feed, followed, log, lookEvery, clock } = this.#options;
    const reader = feed?.read(followed.name) ?? null;
    const hush = reader === null ? store.onAppended(() => this.#bell.ring()) : () => undefined;
    // Another instance may have gone on since this one ran last.
    this.#place = null;
    let pause = 0;
    try {
      while (!signal.aborted) {
        try {
          const idle = await this.#step(reader, signal);
          if (this.#failure !== null) log.info({ follower: followed.name }, 'following the record again');
          this.#failure = null;
          pause = 0;
          if (idle) await this.#bell.wait(lookEvery, signal);
        } catch (error) {
          // The outcome of the transaction may be unknown, so nothing that was known before counts.
          this.#place = null;
          const failure = error instanceof Error ? error.message : String(error);
          if (this.#failure !== failure)
            log.warn({ follower: followed.name, err: error }, 'cannot follow the record; trying again');
          this.#failure = failure;
          pause = Math.min(LONGEST_PAUSE, Math.max(100, pause * 2));
          await clock.sleep(pause, signal);
        }
      }
    } finally {
      hush();
      await reader?.close();
    }
  }

  /** One read and its application. True when there is nothing to do before somebody rings. */
  async #step(reader: FeedReader | null, signal: AbortSignal): Promise<boolean> {
    const { lookEvery, clock } = this.#options;
    if (this.#place === null || clock.monotonic() - this.#lookedAt >= lookEvery) {
      await this.#lookAround();
      this.#lookedAt = clock.monotonic();
    }
    if (this.#place === null) return false;
    if (reader === null) return !(await this.#fromRecord(this.#place));
    if (this.#place.checkpoint < this.#readUpTo) {
      // What the feed has named and the record does not have is not waited for.
      if (!(await this.#fromRecord(this.#place))) this.#readUpTo = this.#place.checkpoint;
      return false;
    }
    await this.#fromFeed(this.#place, reader, signal);
    return false;
  }

  /** True when there was something to apply. */
  async #fromRecord(place: At): Promise<boolean> {
    const { store, batchesAtOnce } = this.#options;
    const batches = await store.readBatches(place.checkpoint, batchesAtOnce);
    if (batches.length === 0) return false;
    await this.#apply(place, batches, 'record');
    return true;
  }

  async #fromFeed(place: At, reader: FeedReader, signal: AbortSignal): Promise<void> {
    const { lookEvery, reached } = this.#options;
    const deliveries = await reader.take(DELIVERIES_AT_ONCE, lookEvery, signal);
    if (deliveries.length === 0) return;
    reached('taken');
    const { next, missingUpTo } = sortArrivals(place, deliveries);
    if (missingUpTo !== null) this.#readUpTo = missingUpTo;
    if (next.length > 0) await this.#apply(place, next, 'feed');
    // What is applied by now, was seen before, or is read from the record next: none of it has to come again.
    for (const delivery of deliveries) delivery.ack();
    reached('acknowledged');
  }

  async #apply(place: At, batches: readonly Batch[], source: 'feed' | 'record'): Promise<void> {
    const { followed, reached, trace } = this.#options;
    const ended = trace(batches);
    let next: At | null = null;
    try {
      next = await followed.apply(place, batches, reached);
    } finally {
      ended(next !== null);
    }
    this.#place = next;
    if (this.#place === null) this.#overtaken += 1;
    else this.#applied[source] += batches.length;
  }

  /**
   * Looks where it and the record stand. Whatever was recorded before we began to read the feed, and whatever has not come by
   * it in time, is to be read from the record.
   */
  async #lookAround(): Promise<void> {
    const { followed, store, patience, clock } = this.#options;
    const before = this.#place;
    const { place, newest } = await followed.look(store);
    this.#place = place;
    if (place === null) return;
    const now = clock.monotonic();
    const wentElsewhere = before === null || before.epoch !== place.epoch || before.checkpoint !== place.checkpoint;
    const hasArrived = this.#awaited === null || place.checkpoint >= this.#awaited.number;
    if (wentElsewhere) {
      this.#readUpTo = newest;
      this.#awaited = null;
    } else if (hasArrived) {
      this.#awaited = newest > place.checkpoint ? { number: newest, since: now } : null;
    } else if (this.#awaited !== null && now - this.#awaited.since >= patience) {
      this.#readUpTo = newest;
      this.#awaited = null;
    }
  }
}
