import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { encodeBatch, type Batch } from '@rollcall/event-store';
import { BATCH_SUBJECT, batchMessageId, type FeedMessage } from '@rollcall/feed';
import { InMemoryFeed } from '@rollcall/feed/testing';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { admitted, checkedIn } from '@rollcall/machine/testing';
import { sql } from 'kysely';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { Follower } from './follow.js';
import type { FollowStep } from './follow-record.js';
import { openReadModels, presenceModel, READ_MODELS, type ReadModel, type ReadModelDatabase } from './index.js';
import { dumpTables, MemoryReadModels, randomFrom, RecordBuilder } from './testing/index.js';

const M = '0192f0c4-0000-7000-8000-000000000001';

let fresh: FreshDatabase;
let database: ReadModelDatabase;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openReadModels({ connectionString: fresh.url });
});
afterAll(async () => {
  await database.destroy();
  await fresh.drop();
});
beforeEach(async () => {
  await sql`truncate read_model, read_model_gap, read_model_parked, presence_machine, presence_change, history_line, readiness_machine, readiness_episode`.execute(
    database,
  );
});

const messageOf = (epoch: string, batch: Batch): FeedMessage => ({
  subject: BATCH_SUBJECT,
  id: batchMessageId({ epoch, number: batch.number }),
  body: encodeBatch(epoch, batch),
});

/** A record whose reads are counted, and a feed that brings only what a test publishes. */
const scene = (record: RecordBuilder, models: readonly ReadModel[] = READ_MODELS, patience = 2_000) => {
  const clock = new ManualClock();
  const feed = new InMemoryFeed(clock);
  let reads = 0;
  const store = {
    readBatches: async (after: bigint, limit: number) => {
      reads += 1;
      await new Promise((resolve) => setImmediate(resolve)); // as for a database, so that a loop that spins does not stop the test
      return record.readBatches(after, limit);
    },
    newest: () => record.newest(),
    epoch: () => record.epoch(),
    onAppended: (listener: () => void) => record.onAppended(listener),
  };
  const steps: FollowStep[] = [];
  const said: string[] = [];
  const say = (_: object, message: string) => void said.push(message);
  const followers = models.map(
    (model) =>
      new Follower({
        database,
        store,
        model,
        feed,
        clock,
        patience,
        log: { info: say, warn: say },
        reached: (step) => void steps.push(step),
      }),
  );
  const over = new AbortController();
  const running = followers.map((follower) => follower.run(over.signal));
  const isAt = (checkpoint: number) =>
    followers.every((follower) => follower.status().place?.checkpoint === BigInt(checkpoint));
  /** Lets that much time pass, in steps in which the loops can do what they do. */
  const pass = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 500) {
      await clock.advance(500);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const stop = async () => {
    over.abort();
    await Promise.all(running);
  };
  return {
    clock,
    feed,
    steps,
    said,
    followers,
    reads: () => reads,
    /** Publishes batches of the record by number. */
    bring: async (...numbers: readonly number[]) => {
      const epoch = await record.epoch();
      await feed.publish(numbers.map((number) => messageOf(epoch, record.batches()[number - 1]!)));
    },
    messages: async (...numbers: readonly number[]) => {
      const epoch = await record.epoch();
      return numbers.map((number) => messageOf(epoch, record.batches()[number - 1]!));
    },
    at: (checkpoint: number) => eventually(`all at ${checkpoint}`, () => Promise.resolve(isAt(checkpoint))),
    isAt,
    pass,
    /** Lets time pass until all have applied so many batches; a busy machine needs more steps for that, so what is limited is its time. */
    passUntilAt: async (checkpoint: number) => {
      const deadline = performance.now() + 20_000;
      while (performance.now() < deadline && !isAt(checkpoint)) await pass(500);
      expect(isAt(checkpoint)).toBe(true);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
};

const fold = (record: RecordBuilder): string => {
  const models = new MemoryReadModels();
  models.apply(record.batches());
  return models.dump();
};

describe('a read model with a feed', () => {
  it('catches up from the record, and then applies what arrives without reading the record again (U2)', async () => {
    const record = new RecordBuilder().record(M, admitted(), checkedIn());
    await using it = scene(record);
    await it.at(1);
    const before = it.reads();
    record.after(30).record(M, checkedIn()).after(30).record(M, checkedIn());
    await it.bring(2, 3);
    await it.at(3);
    expect(it.reads()).toBe(before);
    for (const follower of it.followers) expect(follower.status().applied).toEqual({ feed: 2, record: 1 });
    await it.stop();
    expect(await dumpTables(database)).toBe(fold(record));
    expect(record.listeners).toBe(0);
    for (const { name } of READ_MODELS) expect(it.feed.reading(name)).toBe(0);
  });

  it('waits for what is on its way as long as it was told to', async () => {
    const record = new RecordBuilder().record(M, admitted());
    await using it = scene(record, [presenceModel], 10_000);
    await it.at(1);
    const before = it.reads();
    record.after(30).record(M, checkedIn());
    await it.pass(8_000);
    expect(it.reads()).toBe(before);
    await it.passUntilAt(2);
  });

  it('reads what did not arrive in between from the record at once (U2, I6, C25)', async () => {
    const record = new RecordBuilder().record(M, admitted());
    await using it = scene(record);
    await it.at(1);
    for (let check = 0; check < 4; check += 1) record.after(30).record(M, checkedIn());
    await it.bring(2, 5);
    await it.at(5);
    await it.stop();
    expect(await dumpTables(database)).toBe(fold(record));
  });

  it('reads what never arrives from the record after two to three seconds, and says nothing was wrong (U2, fault row 12)', async () => {
    const record = new RecordBuilder().record(M, admitted());
    await using it = scene(record);
    await it.at(1);
    it.feed.away = true;
    record.after(30).record(M, checkedIn());
    await it.pass(1_500);
    expect(it.isAt(1)).toBe(true);
    await it.passUntilAt(2);
    it.feed.away = false;
    record.after(30).record(M, checkedIn());
    await it.bring(3);
    await it.at(3);
    await it.stop();
    expect(await dumpTables(database)).toBe(fold(record));
    expect(it.said).toEqual([]);
  });

  it('ends right when a stalled reader gets an old batch after newer ones, everything three times, and one never (C25, I6)', async () => {
    const record = new RecordBuilder().record(M, admitted({ name: 'first' }));
    await using it = scene(record, [presenceModel]);
    await it.at(1);
    // 2: stopped; 3: returned; 4: renamed, and lost by a publisher that died.
    record.after(30).record(M, checkedIn({ said: 'stopping', reason: 'update' }));
    record.after(300).record(M, checkedIn());
    const old = await it.messages(2);
    await it.bring(2, 3);
    await it.at(3);
    it.feed.deliver('presence', ...old, ...old, ...(await it.messages(3, 2, 3)));
    // Beyond the acknowledgement window: nothing that was acknowledged comes again, and nothing that comes again counts.
    await it.pass(40_000);
    it.feed.deliver('presence', ...old);
    record.after(30).record(M, { type: 'MachineRenamed', name: 'second' });
    await it.passUntilAt(4);
    await eventually('all is acknowledged', () => Promise.resolve(it.feed.pending('presence') === 0));
    await it.stop();
    const row = await database.selectFrom('presence_machine').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ name: 'second', said: 'running', stop_reason: null, revision: '4' });
    const models = new MemoryReadModels();
    models.apply(record.batches());
    const place = await database.selectFrom('read_model').selectAll().where('name', '=', 'presence').executeTakeFirst();
    expect(place).toMatchObject({ checkpoint: '4', trail: models.trail });
  });

  it('takes nothing from a feed of the record before the restore, and rebuilds (C24, U7)', async () => {
    const record = new RecordBuilder().record(M, admitted()).after(30).record(M, checkedIn());
    await using it = scene(record);
    await it.at(2);
    const lost = await it.messages(2);
    record.restoreTo(1n, 'epoch-2').after(60).record(M, { type: 'MachineRenamed', name: 'restored' });
    for (const { name } of READ_MODELS) it.feed.deliver(name, ...lost);
    await eventually('rebuilt', async () => {
      await it.pass(500);
      const rows = await database.selectFrom('read_model').select(['epoch', 'checkpoint']).execute();
      return rows.every(({ epoch, checkpoint }) => epoch === 'epoch-2' && checkpoint === '2');
    });
    await it.stop();
    expect(await dumpTables(database)).toBe(fold(record));
    expect(it.said).toContain('rebuilding');
  });

  it('does not go on asking the record for a batch that only the feed knows (C25)', async () => {
    const record = new RecordBuilder().record(M, admitted());
    await using it = scene(record, [presenceModel]);
    await it.at(1);
    const before = it.reads();
    it.feed.deliver('presence', {
      subject: BATCH_SUBJECT,
      id: batchMessageId({ epoch: await record.epoch(), number: 9n }),
      body: '',
    });
    await eventually('it was asked for', () => Promise.resolve(it.reads() > before));
    await it.pass(1_000);
    expect(it.reads() - before).toBe(1);
    record.after(30).record(M, checkedIn());
    await it.bring(2);
    await it.at(2);
    expect(it.reads() - before).toBe(1);
  });

  it('acknowledges after the commit and not before (C25)', async () => {
    const record = new RecordBuilder().record(M, admitted());
    await using it = scene(record, [presenceModel]);
    await it.at(1);
    it.steps.length = 0;
    record.after(30).record(M, checkedIn());
    await it.bring(2);
    await it.at(2);
    await eventually('acknowledged', () => Promise.resolve(it.steps.includes('acknowledged')));
    expect(it.steps).toEqual(['taken', 'applied', 'committed', 'acknowledged']);
  });

  it.each([1, 2, 3])(
    'applies each batch once and in order, whatever a feed does: random deliveries, seed %i (I6, I7, U7)',
    async (seed) => {
      const random = randomFrom(seed);
      const record = new RecordBuilder().record(M, admitted());
      await using it = scene(record);
      await it.at(1);
      for (let round = 0; round < 40; round += 1) {
        for (let count = random.below(4); count >= 0; count -= 1) record.after(random.below(40)).record(M, checkedIn());
        const newest = record.batches().length;
        const some = Array.from({ length: random.below(8) }, () => 1 + random.below(newest));
        for (const { name } of READ_MODELS) it.feed.deliver(name, ...(await it.messages(...some)));
        if (random.below(5) === 0) it.feed.wipe();
        it.feed.away = random.below(4) === 0;
        if (random.below(3) === 0) await it.pass(500);
      }
      it.feed.away = false;
      await it.passUntilAt(record.batches().length);
      await it.stop();
      expect(await dumpTables(database)).toBe(fold(record));
    },
  );
});
