import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { TraceBatches } from '@rollcall/event-store';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { admitted, checkedIn, deleted } from '@rollcall/machine/testing';
import { sql } from 'kysely';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { applyBatches, type Place } from './apply.js';
import { trailAfter } from './trail.js';
import { Follower, type FollowOptions } from './follow.js';
import type { RecordReader } from './follow-record.js';
import {
  historyModel,
  MachineQueries,
  HistoryQueries,
  openReadModels,
  presenceModel,
  READ_MODELS,
  ReadModelQueries,
  type ReadModel,
  type ReadModelDatabase,
} from './index.js';
import { inSnapshot } from './snapshot.js';
import { dumpTables, MemoryReadModels, randomFrom, RecordBuilder, runWorkload, torn } from './testing/index.js';

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
  await sql`truncate read_model, read_model_gap, read_model_parked, presence_machine, presence_change, history_line,
    readiness_machine, readiness_episode`.execute(database);
});

type Said = { readonly level: 'info' | 'warn'; readonly message: string; readonly fields: object };

/** Followers of one record; `settled` resolves when all have applied all of it, `stop` when their loops have ended. */
const follow = (
  store: RecordReader,
  models: readonly ReadModel[] = READ_MODELS,
  options: Partial<FollowOptions> = {},
) => {
  const over = new AbortController();
  const said: Said[] = [];
  const log = {
    info: (fields: object, message: string) => void said.push({ level: 'info', message, fields }),
    warn: (fields: object, message: string) => void said.push({ level: 'warn', message, fields }),
  };
  const followers = models.map((model) => new Follower({ database, store, model, log, lookEvery: 20, ...options }));
  const running = followers.map((follower) => follower.run(over.signal));
  const stop = async (): Promise<void> => {
    over.abort();
    await Promise.all(running);
  };
  return {
    followers,
    said,
    stop,
    [Symbol.asyncDispose]: stop,
    settled: () =>
      eventually(
        'the read models are where the record is',
        async () => {
          const status = await new ReadModelQueries(database, store).status();
          return (
            status.length >= models.length &&
            status.every(
              ({ lagBatches, rebuilding, epochMatches }) => lagBatches === '0' && !rebuilding && epochMatches,
            )
          );
        },
        50_000,
      ),
  };
};

/** Applies a whole record and stops. */
const catchUp = async (store: RecordReader, models?: readonly ReadModel[], options?: Partial<FollowOptions>) => {
  await using following = follow(store, models, options);
  await following.settled();
  return following;
};

const inMemory = (record: RecordBuilder): string => {
  const models = new MemoryReadModels();
  models.apply(record.batches());
  return models.dump();
};

/** Where a read model stands that has applied all of a record. */
const placeAt = async (record: RecordBuilder): Promise<Place> => ({
  epoch: await record.epoch(),
  checkpoint: BigInt(record.batches().length),
  heardUntil: record.now,
  gapEnd: null,
  trail: trailAfter('', record.batches()),
});

it('applies what is there and what comes, and leaves no listener behind', async () => {
  const record = new RecordBuilder().record(M, admitted(), checkedIn());
  await using following = follow(record);
  await following.settled();
  record.after(30).record(M, checkedIn()).after(30).record(M, deleted());
  await following.settled();
  await following.stop();
  expect(await dumpTables(database)).toBe(inMemory(record));
  expect(record.listeners).toBe(0);
});

it('lets batches be followed, those that are applied together, and tells whether they were', async () => {
  const record = new RecordBuilder().record(M, admitted(), checkedIn()).after(30).record(M, checkedIn());
  const told: string[] = [];
  const trace: TraceBatches = (batches) => {
    const numbers = batches.map(({ number }) => number).join();
    told.push(`begin ${numbers}`);
    return (done) => told.push(`${done ? 'done' : 'failed'} ${numbers}`);
  };
  let failures = 1;
  const failing: ReadModel = {
    ...presenceModel,
    apply: (transaction, facts) =>
      (failures -= 1) < 0 ? presenceModel.apply(transaction, facts) : Promise.reject(new Error('not now')),
  };
  await catchUp(record, [failing], { trace });
  expect(told).toEqual(['begin 1,2', 'failed 1,2', 'begin 1,2', 'done 1,2']);
});

it('makes nobody absent while the projector stands still, and says how old its truth is (B1, O22, U7)', async () => {
  const record = new RecordBuilder(Date.now()).record(M, admitted({ name: 'box' }), checkedIn({ window: 120 }));
  await catchUp(record);
  const machines = new MachineQueries(database, record);
  const asOf = new Date(record.now).toISOString();
  expect(await machines.list()).toMatchObject({ asOf, behind: false, machines: [{ presence: 'present' }] });

  for (let mark = 0; mark < 720; mark += 1) record.after(5).mark();
  expect(await machines.list()).toMatchObject({ asOf, behind: true, machines: [{ presence: 'present' }] });
  expect(await new HistoryQueries(database, record).of(M)).toMatchObject({ asOf, behind: true });

  await catchUp(record);
  const caughtUp = { asOf: new Date(record.now).toISOString(), behind: false };
  expect(await machines.list()).toMatchObject({
    ...caughtUp,
    machines: [{ presence: 'absent', lifecycle: 'unknown' }],
  });
});

it('says that an answer is old when the record itself stands still: nobody was listening (B1)', async () => {
  const record = new RecordBuilder(Date.now() - 60_000).record(M, admitted(), checkedIn());
  await catchUp(record);
  expect(await new MachineQueries(database, record).list()).toMatchObject({
    behind: true,
    machines: [{ presence: 'present' }],
  });
});

it('lets one of two instances that apply the same batch count, and the other change nothing (U7)', async () => {
  const record = new RecordBuilder().record(M, admitted(), checkedIn());
  await catchUp(record);
  const place = await placeAt(record);
  record.record(M, checkedIn(), checkedIn());
  const both = await Promise.all(
    [1, 2].map(() => applyBatches(database, historyModel, place, record.batches().slice(1), 15)),
  );
  expect(both.filter((applied) => applied === null)).toHaveLength(1);
  await catchUp(record);
  expect(await dumpTables(database)).toBe(inMemory(record));
});

it.each([
  ['a rebuild was asked for', { rebuild_requested: true }],
  ['the record became another one', { epoch: '0192f0c4-0000-7000-8000-0000000000ee' }],
])('changes nothing any more when %s meanwhile (U7)', async (_, meanwhile) => {
  const record = new RecordBuilder().record(M, admitted(), checkedIn());
  await catchUp(record);
  const place = await placeAt(record);
  record.record(M, checkedIn());
  await database.updateTable('read_model').set(meanwhile).execute();
  const before = await dumpTables(database);
  expect(await applyBatches(database, historyModel, place, record.batches().slice(1), 15)).toBeNull();
  expect(await dumpTables(database)).toBe(before);
});

it('keeps a rebuild from emptying a read model that somebody is reading (U7)', async () => {
  await catchUp(new RecordBuilder().record(M, admitted(), checkedIn()));
  const rows = await inSnapshot(database, 'presence_machine', presenceModel.name, async (transaction) => {
    const emptied = database.transaction().execute(async (rebuild) => {
      await sql`set local lock_timeout = '50ms'`.execute(rebuild);
      await sql`truncate presence_machine`.execute(rebuild);
    });
    await expect(emptied).rejects.toMatchObject({ code: '55P03' });
    return transaction.selectFrom('presence_machine').selectAll().execute();
  });
  expect(rows).toHaveLength(1);
});

it('applies nothing twice and nothing never with two instances side by side (U7)', async () => {
  const record = new RecordBuilder().record(M, admitted());
  await using one = follow(record, READ_MODELS, { batchesAtOnce: 1 });
  await using other = follow(record, READ_MODELS, { batchesAtOnce: 3 });
  for (let batch = 0; batch < 60; batch += 1) {
    record.after(batch % 20 === 0 ? 200 : 5).record(M, checkedIn());
    if (batch % 10 === 0) await one.settled();
  }
  await one.settled();
  await Promise.all([one.stop(), other.stop()]);
  expect(await dumpTables(database)).toBe(inMemory(record));
});

it('looks where it stands when it leads again, because another instance went on meanwhile (U2, fault row 9)', async () => {
  const record = new RecordBuilder().record(M, admitted());
  const log = { info: () => undefined, warn: () => undefined };
  // It would not look again by itself within this test.
  const follower = new Follower({ database, store: record, model: presenceModel, log, lookEvery: 60_000 });
  const leadUntil = async (checkpoint: bigint) => {
    const over = new AbortController();
    const running = follower.run(over.signal);
    await eventually('it is there', () => Promise.resolve(follower.status().place?.checkpoint === checkpoint));
    over.abort();
    await running;
  };
  await leadUntil(1n);
  record.record(M, checkedIn());
  await catchUp(record, [presenceModel]);
  record.record(M, checkedIn());
  await leadUntil(3n);
  expect(follower.status().overtaken).toBe(0);
});

it('passes over batches that it has seen, and refuses to jump over one that is missing', async () => {
  const record = new RecordBuilder()
    .record(M, admitted())
    .record(M, checkedIn())
    .record(M, checkedIn())
    .record(M, checkedIn());
  await catchUp(record, READ_MODELS);
  const place = await placeAt(record);
  expect(await applyBatches(database, historyModel, place, record.batches(), 15)).toBe(place);
  record.record(M, checkedIn()).record(M, checkedIn());
  await expect(applyBatches(database, historyModel, place, record.batches().slice(5), 15)).rejects.toThrow(
    'batch 5 is missing before batch 6',
  );
  await catchUp(record);
  expect(await dumpTables(database)).toBe(inMemory(record));
});

it('keeps rows and checkpoint together when a process dies between applying and committing (U7)', async () => {
  const random = randomFrom(7);
  const record = new RecordBuilder().record(M, admitted());
  for (let batch = 0; batch < 30; batch += 1) record.after(random.below(200)).record(M, checkedIn());
  let deaths = 0;
  const mortal = (model: ReadModel): ReadModel => ({
    ...model,
    async apply(transaction, facts) {
      const parked = await model.apply(transaction, facts);
      if (random.below(3) === 0 && deaths < 20) {
        deaths += 1;
        throw new Error('died between applying and committing');
      }
      return parked;
    },
  });
  // A pause of its own would cost a second and show nothing more, so each death is a new instance.
  for (let life = 0; life < 12; life += 1) {
    await using following = follow(record, READ_MODELS.map(mortal), { batchesAtOnce: 1 + random.below(5) });
    await eventually('dead or done', async () => {
      const done = (await new ReadModelQueries(database, record).status()).every(
        ({ lagBatches }) => lagBatches === '0',
      );
      return done || following.followers.some((follower) => follower.status().failure !== null);
    });
    await following.stop();
  }
  await catchUp(record);
  expect(deaths).toBeGreaterThan(3);
  expect(await dumpTables(database)).toBe(inMemory(record));
});

it('rebuilds when it is ahead of the record or the record is of another epoch, and says so (U7)', async () => {
  const record = new RecordBuilder().record(M, admitted(), checkedIn()).record(M, checkedIn()).record(M, deleted());
  await catchUp(record);
  record.restoreTo(2n);
  const ahead = await catchUp(record);
  expect(ahead.said).toContainEqual({
    level: 'warn',
    message: 'rebuilding',
    fields: { readModel: 'presence', reason: 'the read model is at batch 3, ahead of the record at 2', batches: '2' },
  });
  expect(await dumpTables(database)).toBe(inMemory(record));

  record.restoreTo(2n, 'epoch-2').record(M, { type: 'MachineRenamed', name: 'after the restore' });
  const restored = await catchUp(record);
  expect(restored.said.map(({ fields }) => fields)).toContainEqual(
    expect.objectContaining({ reason: 'the record is of another epoch: it was restored' }),
  );
  expect(await dumpTables(database)).toBe(inMemory(record));
});

it('keeps a rename over a rebuild that somebody asked for, and notices the wish while it runs (C02, U7)', async () => {
  const record = new RecordBuilder().record(M, admitted(), { type: 'NameAdopted', name: 'ip-10-0-0-7' }, checkedIn());
  record.record(M, { type: 'MachineRenamed', name: 'build-box' });
  for (let check = 0; check < 10; check += 1) record.after(30).record(M, checkedIn());
  await using following = follow(record);
  await following.settled();
  const queries = new ReadModelQueries(database, record);
  const machines = new MachineQueries(database, record);
  const before = [await dumpTables(database), await machines.list()] as const;
  expect(before[1].machines).toMatchObject([{ name: 'build-box' }]);

  // What no fact says must not survive.
  await database.updateTable('presence_machine').set({ name: 'forged' }).execute();
  expect(await queries.requestRebuild('presence')).toBe(true);
  await following.settled();
  await following.stop();
  expect(await dumpTables(database)).toBe(before[0]);
  expect((await machines.list()).machines).toEqual(before[1].machines);
  expect(await queries.requestRebuild('no such thing')).toBe(false);
});

it('begins anew where a read model was dropped with its row (U7)', async () => {
  const record = new RecordBuilder().record(M, admitted(), checkedIn());
  await catchUp(record);
  await sql`truncate read_model, presence_machine, presence_change`.execute(database);
  await sql`truncate history_line`.execute(database);
  await sql`truncate readiness_machine, readiness_episode`.execute(database);
  await catchUp(record);
  expect(await dumpTables(database)).toBe(inMemory(record));
});

it('parks what it cannot use, counts it, and goes on with the rest of the batch (C11)', async () => {
  const record = new RecordBuilder().record(
    M,
    admitted(),
    torn('MachineRenamed'),
    { type: 'MachineDreamt' },
    checkedIn(),
  );
  record.after(30).record(M, { type: 'MachineDreamt' }, checkedIn());
  await catchUp(record);
  expect(await dumpTables(database)).toBe(inMemory(record));
  expect(await new ReadModelQueries(database, record).status()).toMatchObject([
    { name: 'absence', parked: 0 },
    { name: 'history', parked: 3 },
    { name: 'presence', parked: 3 },
    { name: 'readiness', parked: 3 },
  ]);
  expect((await new MachineQueries(database, record).find(M)).machines).toMatchObject([
    { presence: 'present', lastCheckAt: new Date(record.now).toISOString() },
  ]);
});

it('parks what the database will not store, alone, and never stands still for it (C11)', async () => {
  // Random characters: an index entry of 2,700 bytes is refused, and compressed ones would fit.
  const random = randomFrom(11);
  const endless = Array.from({ length: 200 }, () => random.hash()).join('');
  const record = new RecordBuilder().record(M, admitted(), checkedIn());
  record.record(M, { type: 'MachineRenamed', name: endless }, checkedIn()).record(M, checkedIn());
  record.record(M, { type: 'MachineRenamed', name: 'short' });
  await catchUp(record, READ_MODELS, { batchesAtOnce: 1 });
  expect((await new MachineQueries(database, record).find(M)).machines).toMatchObject([{ name: 'short', revision: 6 }]);
  expect(await new ReadModelQueries(database, record).status()).toMatchObject([
    { name: 'absence', parked: 0 },
    { name: 'history', parked: 0 },
    { name: 'presence', parked: 1 },
    { name: 'readiness', parked: 0 },
  ]);
});

it('goes on by itself after the database has ended all its connections', async () => {
  const record = new RecordBuilder().record(M, admitted(), checkedIn());
  await using following = follow(record);
  await following.settled();
  const owner = openReadModels({ connectionString: fresh.ownerUrl });
  for (let time = 0; time < 3; time += 1) {
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(owner);
    record.after(10).record(M, checkedIn());
  }
  await owner.destroy();
  await following.settled();
  await following.stop();
  expect(await dumpTables(database)).toBe(inMemory(record));
});

it('updates rows of checks in place: nothing that a check changes is indexed (O33)', async () => {
  const record = new RecordBuilder().record(M, admitted());
  const counted = async () => {
    const { rows } = await sql<{ name: string; updates: string; hot: string }>`
      select relname as name, n_tup_upd as updates, n_tup_hot_upd as hot from pg_stat_user_tables
      where relname in ('presence_machine', 'history_line', 'read_model') order by relname`.execute(database);
    return rows;
  };
  // A transaction that stays open anywhere in the cluster keeps old versions in their pages, and other test files have such for a while:
  // what counts is that the share is reached, not that nobody ever spoils it.
  const best = new Map<string, number>();
  const isInPlace = (name: string) => (best.get(name) ?? 0) >= 0.95;
  const TABLES = ['history_line', 'presence_machine', 'read_model'];
  for (let attempt = 0; attempt < 5 && !TABLES.every(isInPlace); attempt += 1) {
    for (let check = 0; check < 60; check += 1) record.after(30).record(M, checkedIn());
    const before = await counted();
    // A session hands its counts in when it ends.
    const own = openReadModels({ connectionString: fresh.url, connections: 1 });
    await catchUp(record, READ_MODELS, { batchesAtOnce: 1, database: own });
    await own.destroy();
    await eventually('the counts have come in', async () => {
      const after = await counted();
      return after.every(({ updates }, index) => Number(updates) - Number(before[index]!.updates) >= 55);
    });
    for (const [index, { name, updates, hot }] of (await counted()).entries()) {
      const share = (Number(hot) - Number(before[index]!.hot)) / (Number(updates) - Number(before[index]!.updates));
      best.set(name, Math.max(share, best.get(name) ?? 0));
    }
  }
  for (const name of TABLES) expect({ name, inPlace: isInPlace(name) }).toEqual({ name, inPlace: true });
}, 300_000);

it('touches no row of readiness for a check that says nothing new about blockers (O25, O33)', async () => {
  const record = new RecordBuilder().record(M, admitted(), { type: 'BlockersChanged', blockers: ['disk-full'] });
  await catchUp(record);
  // Where each version of a row lies and which transaction made it.
  const versions = async () => {
    const { rows } = await sql`select xmin::text, ctid::text, 'machine' from readiness_machine
      union all select xmin::text, ctid::text, code from readiness_episode`.execute(database);
    return rows;
  };
  const before = await versions();
  for (let check = 0; check < 20; check += 1) record.after(30).record(M, checkedIn());
  await catchUp(record, READ_MODELS, { batchesAtOnce: 1 });
  expect(before).toHaveLength(2);
  expect(await versions()).toEqual(before);
});

it('makes the same rows of a random life of a fleet as a fold in memory does, seed 20261129 (U7)', async () => {
  let now = Date.UTC(2026, 0, 1);
  const store = new InMemoryEventStore({ now: () => now });
  const pass = (milliseconds: number): void => void (now += milliseconds);
  const report = await runWorkload(store, { seed: 20261129, facts: 5_000, machines: 100, pass });
  await using following = follow(store, READ_MODELS, { batchesAtOnce: 7 });
  await following.settled();
  const models = new MemoryReadModels();
  models.apply(await store.readBatches(0n, 1_000_000));
  expect(await dumpTables(database)).toBe(models.dump());
  for (const { name } of READ_MODELS) await new ReadModelQueries(database, store).requestRebuild(name);
  await following.settled();
  expect(await dumpTables(database)).toBe(models.dump());
  expect(models.gaps().length).toBeGreaterThan(0);
  expect(report.refusals).toBeGreaterThan(50);
  await store.close();
});
