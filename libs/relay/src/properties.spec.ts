import { expect, it } from '@jest/globals';
import { BATCH_SUBJECT, placeOfMessageId, type FeedMessage, type FeedPlace } from '@rollcall/feed';
import { InMemoryFeed } from '@rollcall/feed/testing';
import { ManualClock } from '@rollcall/lifetimes/testing';
import fc from 'fast-check';
import { Relay, type RelayRecord } from './index.js';
import { InMemoryRecord, InMemoryRelayCursor } from './testing/index.js';

/** What happens to one call of a port. `late`: it takes effect, and the caller is told that it failed. */
type Luck = 'well' | 'fails' | 'late';
type Turn = {
  readonly append: number;
  readonly wait: number;
  readonly restart: boolean;
  readonly luck: readonly Luck[];
};

const luck = fc.constantFrom<Luck>('well', 'well', 'well', 'fails', 'late');
const turn = fc.record<Turn>({
  append: fc.nat({ max: 3 }),
  wait: fc.constantFrom(0, 0, 100, 1_000, 6_000),
  restart: fc.boolean(),
  luck: fc.array(luck, { maxLength: 12 }),
});
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The world of one case: its ports outlive the relays, of which each lives until it is ended at whatever it was doing. */
class World {
  readonly clock = new ManualClock();
  readonly record = new InMemoryRecord();
  readonly feed = new InMemoryFeed(this.clock);
  readonly cursor = new InMemoryRelayCursor();
  /** The newest batch up to which everything was acknowledged. */
  acknowledged = 0n;
  luck: Luck[] = [];
  /** The batches that each relay published, in its order. */
  readonly runs: bigint[][] = [];
  readonly events = new Set<string>();
  #life: { readonly over: AbortController; readonly run: Promise<void> } | null = null;

  start(): void {
    const over = new AbortController();
    const run: bigint[] = [];
    this.runs.push(run);
    /** Does it or not, and says so or not. What is dead does nothing. */
    const call = async <Value>(work: () => Promise<Value>): Promise<Value> => {
      const chance = over.signal.aborted ? 'fails' : (this.luck.shift() ?? 'well');
      if (chance === 'fails') throw new Error('failed');
      const value = await work();
      if (chance === 'late') throw new Error('late');
      return value;
    };
    const { record, feed, cursor } = this;
    const luckyRecord: RelayRecord = {
      readBatches: (after, limit) => call(() => record.readBatches(after, limit)),
      newest: () => call(() => record.newest()),
      epoch: () => call(() => record.epoch()),
      renewEpoch: () => call(() => record.renewEpoch()),
      batchOfEvent: (position) => call(() => record.batchOfEvent(position)),
      onAppended: (listener) => record.onAppended(listener),
    };
    const luckyFeed = Object.assign(Object.create(feed) as InMemoryFeed, {
      prepare: () => call(() => feed.prepare()),
      newest: () => call(() => feed.newest()),
      newestEvent: () => call(() => feed.newestEvent()),
      publish: async (messages: readonly FeedMessage[]) => {
        const parts = Math.ceil(messages.length / 2);
        for (const part of [messages.slice(0, parts), messages.slice(parts)])
          await call(async () => {
            await feed.publish(part);
            for (const message of part) this.#sent(message, run);
          });
        const upTo = placeOfMessageId(messages.findLast(({ subject }) => subject === BATCH_SUBJECT)?.id ?? '')?.number;
        if (upTo !== undefined && upTo > this.acknowledged) this.acknowledged = upTo;
      },
    });
    const luckyCursor = Object.assign(Object.create(cursor) as InMemoryRelayCursor, {
      read: () => call(() => cursor.read()),
      move: (from: FeedPlace | null, to: FeedPlace) =>
        call(async () => {
          // The cursor is never ahead of what was acknowledged.
          expect(to.number).toBeLessThanOrEqual(this.acknowledged);
          return cursor.move(from, to);
        }),
    });
    const relay = new Relay({
      record: luckyRecord,
      feed: luckyFeed,
      cursor: luckyCursor,
      log: silent,
      clock: this.clock,
    });
    this.#life = { over, run: relay.run(over.signal) };
  }

  /** Whatever it was doing has no effect any more. */
  async end(): Promise<void> {
    this.#life?.over.abort();
    await this.#life?.run;
  }

  #sent({ subject, body, id }: FeedMessage, run: bigint[]): void {
    if (subject === BATCH_SUBJECT) run.push(placeOfMessageId(id)?.number ?? 0n);
    else this.events.add((JSON.parse(body) as { id: string }).id);
  }
}

it('publishes everything at least once, in order, whatever fails and whenever it is started again (U2, I6)', () =>
  fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 12 }), async (turns) => {
      const world = new World();
      world.start();
      for (const { append, wait, restart, luck: chances } of turns) {
        world.luck.push(...chances);
        for (let n = 0; n < append; n += 1) world.record.append('machine-7', { type: 'MachineRenamed', name: 'x' });
        await world.clock.advance(wait);
        if (restart) {
          await world.end();
          world.start();
        }
      }
      world.luck = [];
      await world.clock.advance(10_000);
      await world.end();

      const { number: head } = await world.record.newest();
      expect(world.cursor.place?.number).toBe(head);
      const recorded = world.record
        .batches()
        .flatMap(({ facts }) => facts.flatMap((fact) => (fact.kind === 'event' ? [fact.eventId] : [])));
      expect([...world.events].toSorted()).toEqual(recorded.toSorted());
      // Each run, without its repetitions, goes on one by one.
      for (const run of world.runs) {
        const firsts = [...new Set(run)];
        expect(firsts).toEqual(firsts.map((_, index) => (firsts[0] ?? 0n) + BigInt(index)));
      }
      expect(new Set(world.runs.flat()).size).toBe(Number(head));
    }),
  ));
