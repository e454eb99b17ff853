import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TraceBatches } from '@rollcall/event-store';
import { BATCH_SUBJECT, FeedMisconfigured, placeOfMessageId, type FeedMessage } from '@rollcall/feed';
import { InMemoryFeed } from '@rollcall/feed/testing';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { Relay, type RelayOptions, type RelayStep } from './index.js';
import { InMemoryRecord, InMemoryRelayCursor } from './testing/index.js';

const renamed = { type: 'MachineRenamed', name: 'forge' };

let clock: ManualClock;
let record: InMemoryRecord;
let feed: PublishingFeed;
let cursor: InMemoryRelayCursor;
let said: { readonly level: string; readonly fields: object; readonly message: string }[];
let running: { readonly end: () => Promise<void> }[];

/** Also remembers what was published again, which the feed does not store twice. */
class PublishingFeed extends InMemoryFeed {
  readonly published: FeedMessage[] = [];
  override async publish(messages: readonly FeedMessage[]): Promise<void> {
    await super.publish(messages);
    this.published.push(...messages);
  }
  batches(): readonly number[] {
    return this.published.flatMap(({ subject, id }) =>
      subject === BATCH_SUBJECT ? [Number(placeOfMessageId(id)?.number)] : [],
    );
  }
}

const start = (over: Partial<RelayOptions> = {}) => {
  const level = (name: string) => (fields: object, message: string) => void said.push({ level: name, fields, message });
  const log = { info: level('info'), warn: level('warn'), error: level('error') };
  const relay = new Relay({ record, feed, cursor, log, clock, ...over });
  const stopping = new AbortController();
  const run = relay.run(stopping.signal);
  const started = {
    relay,
    end: () => {
      stopping.abort();
      return run;
    },
  };
  running.push(started);
  return started;
};
/** Everything that needs no time has happened. */
const settled = () => clock.advance(0);
const append = (times = 1) => {
  for (let n = 0; n < times; n += 1) record.append('machine-7', renamed);
};
const epoch = () => record.epoch();
const place = () => Number(cursor.place?.number);

beforeEach(() => {
  clock = new ManualClock();
  record = new InMemoryRecord();
  feed = new PublishingFeed(clock);
  cursor = new InMemoryRelayCursor();
  said = [];
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map(({ end }) => end()));
  expect([clock.sleeping, record.listeners]).toEqual([0, 0]);
});

describe('a relay', () => {
  it('publishes what is recorded, from the first batch on, and moves its cursor behind it (U2, I6)', async () => {
    append(3);
    start();
    await settled();
    expect(feed.batches()).toEqual([1, 2, 3]);
    expect(feed.published).toHaveLength(6);
    expect(cursor.place).toEqual({ epoch: await epoch(), number: 3n });
    append();
    await settled();
    expect(feed.batches()).toEqual([1, 2, 3, 4]);
  });

  it('looks every second where nobody told it that something was appended', async () => {
    record.onAppended = () => () => undefined;
    start();
    await settled();
    append();
    await clock.advance(999);
    expect(place()).toBe(0);
    await clock.advance(1);
    expect(place()).toBe(1);
  });

  it('goes on after its cursor when it starts again', async () => {
    append(2);
    await settled();
    const first = start();
    await settled();
    await first.end();
    append();
    start();
    await settled();
    expect(feed.batches()).toEqual([1, 2, 3]);
  });

  it('reads at most 64 batches at a time, and all of them in the end', async () => {
    append(130);
    const limits: number[] = [];
    const read = record.readBatches.bind(record);
    record.readBatches = (after, limit) => {
      limits.push(limit);
      return read(after, limit);
    };
    start();
    await settled();
    expect(place()).toBe(130);
    expect(feed.batches()).toEqual(Array.from({ length: 130 }, (_, index) => index + 1));
    expect(new Set(limits)).toEqual(new Set([64]));
  });

  it('tells each step when it was done', async () => {
    append();
    const steps: RelayStep[] = [];
    start({ reached: (step) => steps.push(step) });
    await settled();
    expect(steps).toEqual(['begun', 'read', 'published', 'moved', 'read']);
  });

  it('lets batches be followed, those that are published together, and tells whether they were', async () => {
    append();
    record.append('machine-8', ...Array.from({ length: 150 }, () => ({ ...renamed, name: 'x'.repeat(30_000) })));
    append();
    const publish = feed.publish.bind(feed);
    feed.publish = () => {
      feed.publish = publish;
      return Promise.reject(new Error('away'));
    };
    const told: string[] = [];
    const trace: TraceBatches = (batches) => {
      const numbers = batches.map(({ number }) => number).join();
      told.push(`begin ${numbers}`);
      return (done) => told.push(`${done ? 'done' : 'failed'} ${numbers}`);
    };
    start({ trace });
    await settled();
    await clock.advance(200);
    expect(told).toEqual(['begin 1', 'failed 1', 'begin 1', 'done 1', 'begin 2', 'done 2', 'begin 3', 'done 3']);
  });

  it('waits for what is being published when it is told to stop, counts it, and publishes nothing more', async () => {
    append(1);
    const large = Array.from({ length: 150 }, () => ({ ...renamed, name: 'x'.repeat(30_000) }));
    record.append('machine-8', ...large);
    const publish = feed.publish.bind(feed);
    let confirm = () => {};
    feed.publish = async (messages) => {
      await new Promise<void>((resolve) => (confirm = resolve));
      await publish(messages);
    };
    const { end } = start();
    await settled();
    const ended = end();
    confirm();
    await ended;
    expect(feed.batches()).toEqual([1]);
    expect(place()).toBe(1);
  });
});

describe('a feed that is away', () => {
  it('is tried again after 0.2 s, then twice as long each time, up to 5 s; the cursor stays (U2)', async () => {
    append();
    feed.away = true;
    const { relay } = start();
    await settled();
    expect(relay.status()).toMatchObject({ cursor: 0n, head: 1n, lag: 1n });
    const pauses: number[] = [];
    for (let tries = feed.prepared, at = clock.monotonic(); pauses.length < 7; tries = feed.prepared) {
      while (feed.prepared === tries) await clock.advance(100);
      pauses.push(clock.monotonic() - at);
      at = clock.monotonic();
    }
    expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    expect(cursor.place).toBeNull();
  });

  it('misses nothing, and gets the same ids again (U2)', async () => {
    append();
    const { relay } = start();
    await settled();
    feed.away = true;
    append(2);
    await settled();
    expect(relay.status()).toMatchObject({ cursor: 1n, head: 3n, lag: 2n, failure: 'The feed is away' });
    feed.away = false;
    await clock.advance(5_000);
    expect(feed.batches()).toEqual([1, 2, 3]);
    expect(relay.status()).toEqual({
      cursor: 3n,
      head: 3n,
      lag: 0n,
      failure: null,
      misconfigured: false,
      published: feed.published.length,
      failures: expect.any(Number),
    });
  });

  it('is said once, and so is its return', async () => {
    append();
    feed.away = true;
    start();
    await clock.advance(30_000);
    feed.away = false;
    await clock.advance(5_000);
    expect(said.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  it('begins anew with a short pause after it was back', async () => {
    append();
    feed.away = true;
    start();
    await clock.advance(30_000);
    feed.away = false;
    await clock.advance(5_000);
    feed.away = true;
    append();
    await settled();
    feed.away = false;
    await clock.advance(200);
    expect(place()).toBe(2);
  });

  it('that has confirmed only a part gets all of the portion again, with the same ids', async () => {
    append(2);
    const publish = feed.publish.bind(feed);
    let times = 0;
    feed.publish = async (messages) => {
      times += 1;
      await publish(times === 1 ? messages.slice(0, 3) : messages);
      if (times === 1) throw new Error('No answer');
    };
    start();
    await settled();
    expect(cursor.place).toEqual({ epoch: await epoch(), number: 0n });
    await clock.advance(200);
    expect(place()).toBe(2);
    expect(feed.published.slice(0, 3)).toEqual(feed.published.slice(3, 6));
    expect(feed.stored).toHaveLength(4);
  });
});

it('says as an error that the feed is not set up as it must be, tells it, and tries again every 30 s', async () => {
  append();
  feed.refusal = new FeedMisconfigured(['max_age is 0']);
  const { relay } = start();
  await clock.advance(60_000);
  expect(feed.prepared).toBe(3);
  expect(said).toMatchObject([{ level: 'error' }]);
  expect(relay.status()).toMatchObject({ misconfigured: true, failure: expect.stringContaining('max_age is 0') });
  feed.refusal = null;
  await clock.advance(30_000);
  expect(place()).toBe(1);
  expect(relay.status().misconfigured).toBe(false);
});

it('prepares the feed before the first publish and after each failure', async () => {
  append();
  start();
  await settled();
  append();
  await settled();
  expect(feed.prepared).toBe(1);
  feed.away = true;
  append();
  await settled();
  feed.away = false;
  await clock.advance(200);
  expect(feed.prepared).toBe(2);
});

it('waits out a record that cannot be read', async () => {
  append();
  record.away = true;
  const { relay } = start();
  await settled();
  expect(relay.status()).toEqual({
    cursor: null,
    head: null,
    lag: null,
    failure: 'The record is away',
    misconfigured: false,
    published: 0,
    failures: 1,
  });
  record.away = false;
  await clock.advance(200);
  expect(place()).toBe(1);
});

it('knows nothing of itself while it does not run, but what it has published', async () => {
  append();
  const { relay, end } = start();
  await settled();
  await end();
  expect(relay.status()).toEqual({
    cursor: null,
    head: null,
    lag: null,
    failure: null,
    misconfigured: false,
    published: 2,
    failures: 0,
  });
});

describe('two relays at a time', () => {
  it('repeat each other at worst, and the slower one looks where the cursor is now (I6)', async () => {
    append(3);
    start();
    start();
    for (let n = 0; n < 5; n += 1) {
      append();
      await settled();
    }
    expect(place()).toBe(8);
    expect(new Set(feed.batches()).size).toBe(8);
    expect(said).toEqual([]);
  });

  it('do not move a cursor that another has moved', async () => {
    append(2);
    const mover = new InMemoryRelayCursor();
    const { move } = InMemoryRelayCursor.prototype;
    let overtaken = false;
    mover.move = async (from, to) => {
      if (to.number === 2n && !overtaken) {
        overtaken = true;
        mover.place = { epoch: to.epoch, number: 1n };
      }
      return move.call(mover, from, to);
    };
    start({ cursor: mover });
    await settled();
    expect(overtaken).toBe(true);
    expect(feed.batches()).toEqual([1, 2, 2]);
    expect(mover.place?.number).toBe(2n);
  });
});

it('begins where another relay has come to that began at the same moment', async () => {
  append(2);
  const move = cursor.move.bind(cursor);
  cursor.move = async (from, to) => {
    if (from === null) cursor.place = { epoch: to.epoch, number: 1n };
    return move(from, to);
  };
  start();
  await settled();
  expect(feed.batches()).toEqual([2]);
});

describe('another epoch', () => {
  it('is noticed, and published under from where the cursor is (C24)', async () => {
    append(2);
    start();
    await settled();
    const renewed = await record.renewEpoch();
    append();
    await settled();
    expect(cursor.place).toEqual({ epoch: renewed, number: 3n });
    expect(feed.batches()).toEqual([1, 2, 3]);
    expect(feed.published.at(-1)?.id.startsWith(renewed)).toBe(true);
  });

  it('is made where the record was put back behind what was published, and said as an error (C24)', async () => {
    append(5);
    const first = start();
    await settled();
    await first.end();
    const before = await epoch();
    record.putBackTo(3);
    cursor.place = { epoch: before, number: 2n };
    start();
    await settled();
    const after = await epoch();
    expect(after).not.toBe(before);
    expect(cursor.place).toEqual({ epoch: after, number: 3n });
    expect(said).toMatchObject([{ level: 'error', fields: { head: '3', published: '5', cursor: '2', epoch: after } }]);
    append();
    await settled();
    expect(feed.batches()).toEqual([1, 2, 3, 4, 5, 3, 4]);
  });

  it('is made where the feed still holds an event that the record has lost, and no batch any more (C24)', async () => {
    append(5);
    const first = start();
    await settled();
    await first.end();
    const before = await epoch();
    record.putBackTo(3);
    cursor.place = { epoch: before, number: 3n };
    feed.stored = feed.stored.filter(({ subject }) => subject !== BATCH_SUBJECT);
    start();
    await settled();
    expect(await epoch()).not.toBe(before);
    expect(place()).toBe(3);
  });

  it('is made where only the cursor is ahead, and then all is published again (I6)', async () => {
    append(2);
    const before = await epoch();
    cursor.place = { epoch: before, number: 9n };
    start();
    await settled();
    expect(await epoch()).not.toBe(before);
    expect(feed.batches()).toEqual([1, 2]);
  });

  it('is not made twice by a relay that ended between the new epoch and its cursor', async () => {
    append(1);
    cursor.place = { epoch: await epoch(), number: 1n };
    await feed.publish([{ subject: BATCH_SUBJECT, id: `${await epoch()}-5`, body: '' }]);
    const move = cursor.move.bind(cursor);
    cursor.move = () => Promise.reject(new Error('gone'));
    const first = start();
    await settled();
    await first.end();
    const renewed = await epoch();
    cursor.move = move;
    start();
    await settled();
    expect(await epoch()).toBe(renewed);
    expect(cursor.place).toEqual({ epoch: renewed, number: 1n });
  });
});

describe('a feed that was put back', () => {
  it('to an older copy gets again what it has lost (I6)', async () => {
    append(4);
    start();
    await settled();
    const older = feed.stored.slice(0, 4); // two batches and their events
    feed.away = true;
    append();
    await settled();
    feed.away = false;
    feed.stored = older;
    await clock.advance(200);
    expect(feed.batches()).toEqual([1, 2, 3, 4, 2, 3, 4, 5]);
    expect(place()).toBe(5);
    expect(said.map(({ message }) => message)).toContain(
      'the feed has lost what it had acknowledged; publishing it again',
    );
  });

  it('while nothing was published gets what it has lost as soon as it is back (I6, fault row 14)', async () => {
    append(4);
    start();
    await settled();
    feed.stored = feed.stored.slice(0, 4);
    feed.connections += 1;
    await clock.advance(1_000);
    expect(feed.batches()).toEqual([1, 2, 3, 4, 2, 3, 4]);
    expect(place()).toBe(4);
  });

  it('to older events than batches gets again what it has lost of them (I6, fault row 14)', async () => {
    append(4);
    start();
    await settled();
    const whole = [...feed.stored];
    feed.stored = whole.filter(({ subject }, index) => subject === BATCH_SUBJECT || index < 4);
    feed.connections += 1;
    await clock.advance(1_000);
    expect(feed.stored.map(({ id, subject }) => `${subject} ${id}`).toSorted()).toEqual(
      whole.map(({ id, subject }) => `${subject} ${id}`).toSorted(),
    );
    expect(feed.batches()).toEqual([1, 2, 3, 4, 3, 4]);
    expect(place()).toBe(4);
  });

  it('while the record was read gets what it has lost before anything that is newer (I6, fault row 14)', async () => {
    append(4);
    start();
    await settled();
    const read = record.readBatches.bind(record);
    record.readBatches = (after, limit) => {
      record.readBatches = read;
      feed.stored = feed.stored.slice(0, 4);
      feed.connections += 1;
      return read(after, limit);
    };
    append();
    await settled();
    expect(feed.batches()).toEqual([1, 2, 3, 4, 2, 3, 4, 5]);
    expect(place()).toBe(5);
  });

  it('to nothing gets what comes from now on', async () => {
    append(2);
    const first = start();
    await settled();
    await first.end();
    feed.wipe();
    append();
    start();
    await settled();
    expect(feed.stored.filter(({ subject }) => subject === BATCH_SUBJECT)).toHaveLength(1);
    expect(said).toEqual([]);
  });
});
