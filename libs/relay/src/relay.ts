import { UNTRACED, type EventStore, type TraceBatches } from '@rollcall/event-store';
import { FeedMisconfigured, type Feed, type FeedPlace } from '@rollcall/feed';
import { Bell, SystemClock, type Clock } from '@rollcall/lifetimes';
import type { RelayCursor } from './cursor.js';
import { portionsOf } from './messages.js';
import { whereToBegin } from './where-to-begin.js';

/** The side of the record that a relay needs. */
export type RelayRecord = Pick<EventStore, 'readBatches' | 'newest' | 'epoch' | 'onAppended'> & {
  /** Gives the record another epoch, and answers it. */
  renewEpoch(): Promise<string>;
  /** The batch that recorded the ledger event at a position; null where there is none. */
  batchOfEvent(position: bigint): Promise<bigint | null>;
};

/** Where a relay tells what it does; a pino logger is one. */
export type RelayLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** What a relay has just done. */
export type RelayStep = 'begun' | 'read' | 'published' | 'moved';

/** What a relay works with. */
export type RelayOptions = {
  readonly record: RelayRecord;
  readonly feed: Feed;
  readonly cursor: RelayCursor;
  readonly log: RelayLog;
  readonly clock?: Clock;
  /** Milliseconds between two looks while nothing happens. (Default: 1,000) */
  readonly lookEvery?: number;
  /** Is told each step when it was done, for tests that end the process there. */
  readonly reached?: (step: RelayStep) => void;
  /** Follows batches while they are published. (Default: none) */
  readonly trace?: TraceBatches;
};

/** What a relay says of itself. Numbers are null while it does not run, or has not found out. */
export type RelayStatus = {
  /** The newest batch of which everything was acknowledged. */
  readonly cursor: bigint | null;
  /** The newest batch of the record that it knows of. */
  readonly head: bigint | null;
  /** Batches in between. */
  readonly lag: bigint | null;
  /** What went wrong last, while it lasts. */
  readonly failure: string | null;
  /** The failure is one of the feed's settings, and lasts until somebody corrects them. */
  readonly misconfigured: boolean;
  /** Messages that the feed has confirmed, since the start. */
  readonly published: number;
  /** How often something went wrong, since the start. */
  readonly failures: number;
};

const BATCHES_AT_ONCE = 64;
const BYTES_AT_ONCE = 4 * 1024 * 1024;
const SHORTEST_PAUSE = 200;
const LONGEST_PAUSE = 5_000;
const PAUSE_OF_MISCONFIGURED = 30_000;

/**
 * Publishes what is recorded, batch by batch, and moves its cursor once everything was acknowledged. So everything is published at
 * least once, in order, and with the same ids when it is published again.
 *
 * One relay at a time is enough, and two do no harm: the cursor moves by compare-and-set.
 */
export class Relay {
  readonly #options: Required<RelayOptions>;
  readonly #bell: Bell;
  #cursor: bigint | null = null;
  #head: bigint | null = null;
  /** The feed's connection that the current place was found on. */
  #connection: number | null = null;
  #failure: { readonly message: string; readonly misconfigured: boolean } | null = null;
  #published = 0;
  #failures = 0;

  constructor(options: RelayOptions) {
    this.#options = {
      clock: new SystemClock(),
      lookEvery: 1_000,
      reached: () => undefined,
      trace: UNTRACED,
      ...options,
    };
    this.#bell = new Bell(this.#options.clock);
  }

  status(): RelayStatus {
    const [cursor, head] = [this.#cursor, this.#head];
    const lag = cursor === null || head === null ? null : head > cursor ? head - cursor : 0n;
    return {
      cursor,
      head,
      lag,
      failure: this.#failure?.message ?? null,
      misconfigured: this.#failure?.misconfigured ?? false,
      published: this.#published,
      failures: this.#failures,
    };
  }

  /** Runs until `signal` aborts; what is being published is waited for. Never rejects: what fails is tried again, with the same ids. */
  async run(signal: AbortSignal): Promise<void> {
    const { record, feed, clock, lookEvery, log } = this.#options;
    const hush = record.onAppended(() => this.#bell.ring());
    let place: FeedPlace | null = null;
    let pause = 0;
    try {
      while (!signal.aborted) {
        try {
          // A server that came back may have lost what it had confirmed, so it is asked again what it holds.
          if (feed.status().connections !== this.#connection) place = null;
          const from: FeedPlace | null = place ?? (await this.#begin());
          if (from === null) continue;
          place = await this.#publishAfter(from, signal);
          if (this.#failure !== null) log.info({}, 'publishing again');
          this.#failure = null;
          pause = 0;
          if (place === from) await this.#bell.wait(lookEvery, signal);
        } catch (error) {
          // What was stored and whether the cursor moved may be unknown, so nothing that was known before counts.
          place = null;
          this.#failed(error);
          pause = Math.min(LONGEST_PAUSE, Math.max(SHORTEST_PAUSE, pause * 2));
          await clock.sleep(error instanceof FeedMisconfigured ? PAUSE_OF_MISCONFIGURED : pause, signal);
        }
      }
    } finally {
      hush();
      this.#cursor = this.#head = this.#failure = null;
    }
  }

  /** Finds out where to go on. Null when another relay moved the cursor at the same moment. */
  async #begin(): Promise<FeedPlace | null> {
    const { record, feed, cursor: stored, log, reached } = this.#options;
    const known = await record.epoch();
    const cursor = await stored.read();
    this.#cursor = cursor?.number ?? 0n;
    this.#head = (await record.newest()).number; // for the status, also while there is no feed
    this.#connection = feed.status().connections;
    await feed.prepare();
    const published = await feed.newest();
    const event = await feed.newestEvent();
    const position = event?.epoch === known ? event.position : null;
    const lacking = position === null ? null : await record.batchOfEvent(position + 1n);
    const unrecorded = position !== null && (await record.batchOfEvent(position)) === null;
    const head = (await record.newest()).number;
    this.#head = head;
    const { after, recordLostItsTail, feedLostItsTail } = whereToBegin({
      epoch: known,
      cursor,
      published,
      lacking,
      unrecorded,
      head,
    });
    const numbers = { head: String(head), published: String(published?.number ?? 0), cursor: String(this.#cursor) };
    const epoch = recordLostItsTail ? await record.renewEpoch() : known;
    if (recordLostItsTail)
      log.error({ ...numbers, epoch }, 'the record lost batches that were published, so it has a new epoch now');
    if (feedLostItsTail) log.warn(numbers, 'the feed has lost what it had acknowledged; publishing it again');
    const place = { epoch, number: after };
    if (cursor === null || cursor.epoch !== epoch || cursor.number !== after)
      if (!(await stored.move(cursor, place))) return null;
    this.#cursor = after;
    reached('begun');
    return place;
  }

  /**
   * Publishes what was recorded after a place, under the epoch that the record has now. Answers the place that was reached, the same
   * one when there was nothing, and null when it has to be found anew: another relay was faster, or the feed was away and is back.
   */
  async #publishAfter(from: FeedPlace, signal: AbortSignal): Promise<FeedPlace | null> {
    const { record, feed, cursor, reached, trace } = this.#options;
    const epoch = await record.epoch();
    const batches = await record.readBatches(from.number, BATCHES_AT_ONCE);
    // A full read says little about how much is left.
    this.#head =
      batches.length < BATCHES_AT_ONCE ? (batches.at(-1)?.number ?? from.number) : (await record.newest()).number;
    reached('read');
    let place = from;
    for (const { messages, upTo } of portionsOf(epoch, batches, BYTES_AT_ONCE)) {
      if (signal.aborted) break;
      // Nothing newer goes to a server that came back before it was asked what it holds: the newest would hide what it lost.
      if (feed.status().connections !== this.#connection) return null;
      const { number: before } = place;
      const ended = trace(batches.filter(({ number }) => number > before && number <= upTo));
      let published = false;
      try {
        await feed.publish(messages);
        published = true;
      } finally {
        ended(published);
      }
      this.#published += messages.length;
      reached('published');
      const next = { epoch, number: upTo };
      if (!(await cursor.move(place, next))) return null;
      place = next;
      this.#cursor = upTo;
      reached('moved');
    }
    return place;
  }

  #failed(error: unknown): void {
    const { log } = this.#options;
    const message = error instanceof Error ? error.message : String(error);
    const misconfigured = error instanceof FeedMisconfigured;
    if (this.#failure?.message !== message) {
      if (misconfigured) log.error({ err: error }, 'the feed is not set up as it must be; nothing is published');
      else log.warn({ err: error }, 'cannot publish; trying again');
    }
    this.#failure = { message, misconfigured };
    this.#failures += 1;
  }
}
