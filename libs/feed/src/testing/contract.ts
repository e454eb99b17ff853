import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  batchMessageId,
  BATCH_SUBJECT,
  eventMessageId,
  eventSubject,
  FeedMessageTooLarge,
  FeedUnavailable,
  MESSAGE_LIMIT_BYTES,
  type Delivery,
  type Feed,
  type FeedMessage,
  type FeedReader,
} from '../index.js';

/** A feed under test, empty, and what the suite does to it from outside. */
export type FeedUnderTest = {
  /** Two instances over one server. */
  readonly feed: Feed;
  readonly other: Feed;
  /** Milliseconds until what was taken and not acknowledged comes again. */
  readonly acknowledgeWithinMs: number;
  /** Takes the server away from both. */
  goAway(): Promise<void>;
  /** Brings it back, with what it held. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
};

const EPOCH = '0192f0c4-0000-7000-8000-000000000001';
const LIMIT = 64;
const WAIT_MS = 500;
/** More than any feed needs. */
const TRIES = 60;

const batch = (number: number): FeedMessage => ({
  subject: BATCH_SUBJECT,
  id: batchMessageId({ epoch: EPOCH, number: BigInt(number) }),
  body: `batch ${number}, “quoted”`,
});
const batches = (from: number, count: number) => Array.from({ length: count }, (_, index) => batch(from + index));
const numbers = (deliveries: readonly Delivery[]) => deliveries.map(({ number }) => Number(number));
const never = new AbortController().signal;

const FIRST_PROBE = 1_000_000;

/** What comes within a short time, without the probes, which are acknowledged. */
const arrived = async (reader: FeedReader, waitMs = WAIT_MS): Promise<readonly Delivery[]> =>
  (await reader.take(LIMIT, waitMs, never)).filter((delivery) => {
    if (delivery.number < FIRST_PROBE) return true;
    delivery.ack();
    return false;
  });

/** Takes until that many have come, or gives up with what came. */
const taken = async (count: number, ...readers: readonly FeedReader[]): Promise<Delivery[]> => {
  const all: Delivery[] = [];
  for (let tries = 0; all.length < count && tries < TRIES; tries += 1)
    for (const reader of readers) all.push(...(await arrived(reader, WAIT_MS / readers.length)));
  return all;
};

/** What every feed promises: the one in memory that tests of others use, and the real one. */
export const feedContract = (name: string, open: () => Promise<FeedUnderTest>): void =>
  describe(`the contract of a feed: ${name}`, () => {
    let test: FeedUnderTest;
    let probes = 0;
    /** What a reader was given before it was asked for anything. */
    let past: Delivery[] = [];

    beforeEach(async () => {
      past = [];
      test = await open();
      await test.feed.prepare();
    });
    afterEach(() => test.close());

    /** Publishes until something arrives: a reader begins, and begins again, by itself. */
    const heard = async (reader: FeedReader): Promise<FeedReader> => {
      for (let tries = 0; tries < TRIES; tries += 1) {
        probes += 1;
        const probe = FIRST_PROBE + probes;
        await test.feed.publish([batch(probe)]).catch((error: unknown) => {
          if (!(error instanceof FeedUnavailable)) throw error;
        });
        const seen = await reader.take(LIMIT, WAIT_MS, never);
        for (const delivery of seen) delivery.ack();
        past.push(...seen.filter(({ number }) => number < FIRST_PROBE));
        if (numbers(seen).includes(probe)) return reader;
      }
      throw new Error('The reader hears nothing');
    };
    const reading = (reader: string, feed = test.feed) => heard(feed.read(reader));

    it('delivers what is published, in its order, with its place and its body', async () => {
      const reader = await reading('machines');
      await test.feed.publish(batches(1, 300));
      const all: Delivery[] = [];
      while (all.length < 300) {
        const some = await taken(1, reader);
        if (some.length === 0) break;
        for (const delivery of some) delivery.ack();
        all.push(...some);
      }
      expect(numbers(all)).toEqual(batches(1, 300).map((_, index) => index + 1));
      expect(all[1]).toMatchObject({ epoch: EPOCH, number: 2n, body: batch(2).body });
    });

    it('stores a message with the same id once', async () => {
      const reader = await reading('machines');
      await test.feed.publish([batch(1)]);
      await test.other.publish([batch(1), batch(2)]);
      expect(numbers(await taken(2, reader))).toEqual([1, 2]);
    });

    it('brings again what was not acknowledged, and nothing that was', async () => {
      const reader = await reading('machines');
      await test.feed.publish([batch(1), batch(2), batch(3)]);
      const first = await taken(3, reader);
      first[1]?.ack();
      const again = await taken(2, reader);
      expect(numbers(again)).toEqual([1, 3]);
      for (const delivery of again) delivery.ack();
      for (let waited = 0; waited <= 2 * test.acknowledgeWithinMs; waited += WAIT_MS)
        expect(await arrived(reader)).toEqual([]);
    });

    it('lets the instances of one reader share what comes', async () => {
      const mine = await reading('machines');
      const others = await reading('machines', test.other);
      await test.feed.publish(batches(1, 20));
      const all: Delivery[] = await taken(20, mine, others);
      expect(numbers(all).toSorted((a, b) => a - b)).toEqual(batches(1, 20).map((_, index) => index + 1));
    });

    it('gives every reader everything', async () => {
      const one = await reading('machines');
      const another = await reading('webhooks');
      await test.feed.publish([batch(1), batch(2)]);
      expect(numbers(await taken(2, one))).toEqual([1, 2]);
      expect(numbers(await taken(2, another))).toEqual([1, 2]);
    });

    it('begins with what is published after reading began: the past is the record’s to tell', async () => {
      await test.feed.publish([batch(1)]);
      const reader = await reading('machines');
      await test.feed.publish([batch(2)]);
      expect(numbers(await taken(1, reader))).toEqual([2]);
      expect(numbers(past)).toEqual([]);
    });

    it('gives what a closed instance had taken and not acknowledged to whoever reads then', async () => {
      const mine = await reading('machines');
      await test.feed.publish([batch(1)]);
      expect(numbers(await taken(1, mine))).toEqual([1]);
      await mine.close();
      expect(await mine.take(LIMIT, WAIT_MS, never)).toEqual([]);
      expect(numbers(await taken(1, test.other.read('machines')))).toEqual([1]);
    });

    it('names the newest batch that it holds, whatever else it holds', async () => {
      expect(await test.feed.newest()).toBeNull();
      await test.feed.publish([batch(7), batch(8)]);
      await test.feed.publish([{ subject: eventSubject('machine-1', 'MachineRenamed'), id: 'a-1', body: '{}' }]);
      expect(await test.other.newest()).toEqual({ epoch: EPOCH, number: 8n });
    });

    it('names the newest ledger event that it holds, whatever else it holds', async () => {
      expect(await test.feed.newestEvent()).toBeNull();
      const renamed = (position: bigint, machine: string): FeedMessage => ({
        subject: eventSubject(`machine-${machine}`, 'MachineRenamed'),
        id: eventMessageId({ epoch: EPOCH, position }),
        body: '{}',
      });
      await test.feed.publish([renamed(3n, 'b'), renamed(4n, 'a')]);
      await test.feed.publish([batch(7)]);
      expect(await test.other.newestEvent()).toEqual({ epoch: EPOCH, position: 4n });
    });

    it('may be prepared any number of times, by all instances at once', async () => {
      await test.feed.publish([batch(1)]);
      await Promise.all([test.feed.prepare(), test.other.prepare(), test.feed.prepare()]);
      expect(await test.feed.newest()).toMatchObject({ number: 1n });
      expect(test.feed.status()).toMatchObject({ connected: true, problem: null });
    });

    it('refuses a message that is too large as such, and publishes nothing of that call', async () => {
      const large = { ...batch(2), body: 'ä'.repeat(MESSAGE_LIMIT_BYTES / 2) };
      await expect(test.feed.publish([batch(1), { ...large, body: `${large.body}x` }])).rejects.toThrow(
        FeedMessageTooLarge,
      );
      expect(await test.feed.newest()).toBeNull();
      await test.feed.publish([large]);
      expect(await test.feed.newest()).toMatchObject({ number: 2n });
    });

    it('stops waiting when the signal is aborted', async () => {
      const reader = await reading('machines');
      const over = new AbortController();
      const waiting = reader.take(LIMIT, 3_600_000, over.signal);
      over.abort();
      expect(await waiting).toEqual([]);
    });

    it('says that it is away, where something is asked of it, and delivers nothing', async () => {
      const reader = await reading('machines');
      await test.goAway();
      await expect(test.feed.publish([batch(1)])).rejects.toThrow(FeedUnavailable);
      await expect(test.feed.newest()).rejects.toThrow(FeedUnavailable);
      await expect(test.feed.newestEvent()).rejects.toThrow(FeedUnavailable);
      await expect(test.feed.prepare()).rejects.toThrow(FeedUnavailable);
      expect(await reader.take(LIMIT, 10, never)).toEqual([]);
      expect(test.feed.status().connected).toBe(false);
    });

    it('goes on by itself when it is back: what is published again arrives', async () => {
      const reader = await reading('machines');
      await test.goAway();
      await expect(test.feed.publish([batch(1)])).rejects.toThrow(FeedUnavailable);
      await test.comeBack();
      await heard(reader);
      await test.feed.publish([batch(1), batch(2)]);
      expect(numbers(await taken(2, reader))).toEqual([1, 2]);
    });
  });
