import { LogBackedStore } from '@rollcall/event-store';
import { tally } from '@rollcall/event-store/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { batchOfEvent, PostgresLog } from './index.js';

const actor = { kind: 'plane', id: 'test' } as const;

describe('a reader of the record', () => {
  let database: FreshDatabase;
  let owner: Owner;
  let store: LogBackedStore;

  beforeEach(async () => {
    database = await freshDatabase();
    owner = await Owner.connect(database.ownerUrl);
    store = new LogBackedStore(new PostgresLog({ connectionString: database.url }));
    for (let amount = 1; amount <= 3; amount += 1)
      await store.decide(tally, { stream: 'tally-a' }, { type: 'Add', amount }, { actor });
  });
  afterEach(async () => {
    await store.close();
    await owner[Symbol.asyncDispose]();
    await database.drop();
  });

  /** Damage that only somebody beyond all rights can do. */
  const damage = async (table: 'batch' | 'event', statement: string) => {
    await owner.rows(`alter table ${table} disable trigger user`);
    await owner.rows(statement);
    await owner.rows(`alter table ${table} enable always trigger append_only`);
  };

  it('finds the batch of a ledger event by its position, and none beyond the newest', async () => {
    expect(await batchOfEvent(database.url, 0n)).toBe(1n);
    expect(await batchOfEvent(database.url, 2n)).toBe(3n);
    expect(await batchOfEvent(database.url, 3n)).toBeNull();
  });

  it('takes a missing batch for the fault that it is, and does not go past it (C22)', async () => {
    await damage('batch', 'delete from batch where number = 2');
    await expect(store.readBatches(0n, 10)).rejects.toThrow('hole after batch 0');
    await expect(store.readBatches(1n, 10)).rejects.toThrow('hole after batch 1');
    expect(await store.readBatches(2n, 10)).toHaveLength(1);
  });

  it('takes a batch that lacks a fact for the fault that it is (C22, U1)', async () => {
    await damage('event', 'delete from event where batch = 2');
    await expect(store.readBatches(0n, 10)).rejects.toThrow('Batch 2 has 0 facts, but was recorded with 1 events');
  });

  it('folds a stream up to a fact that it has not seen, so the decision on it conflicts instead of forgetting the fact (C22)', async () => {
    // What two reads show between which others appended: the newer fact, and not the one before it.
    await damage('event', 'delete from event where revision = 2');
    expect((await store.readStream('tally-a')).map(({ revision }) => revision)).toEqual([1]);
    await owner.rows('delete from stream_head');
    await expect(
      store.decide(tally, { stream: 'tally-a' }, { type: 'Add', amount: 9 }, { actor }),
    ).rejects.toMatchObject({ code: 'unavailable' });
    expect(await owner.value('select max(revision) from event')).toBe(3);
  });
});
