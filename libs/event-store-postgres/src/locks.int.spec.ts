import { LogBackedStore } from '@rollcall/event-store';
import { tally } from '@rollcall/event-store/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { PostgresLog } from './index.js';

const actor = { kind: 'plane', id: 'test' } as const;

jest.setTimeout(120_000);

describe('two instances that write to the same streams', () => {
  let database: FreshDatabase;
  let owner: Owner;
  let stores: readonly LogBackedStore[];
  const troubles: string[] = [];

  beforeAll(async () => {
    database = await freshDatabase();
    owner = await Owner.connect(database.ownerUrl);
    stores = ['one', 'two'].map(
      (applicationName) =>
        new LogBackedStore(new PostgresLog({ connectionString: database.url, applicationName }), {
          onTrouble: (error) => troubles.push(String(error)),
        }),
    );
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await owner[Symbol.asyncDispose]();
    await database.drop();
  });

  // Each round: both begin at the same instant, one from the front and one from the back.
  const bothWays = async (streams: readonly string[]) => {
    const orders = [streams, streams.toReversed()];
    const results = await Promise.allSettled(
      stores.flatMap((store, index) =>
        (orders[index] ?? []).map((stream) => store.decide(tally, { stream }, { type: 'Add', amount: 1 }, { actor })),
      ),
    );
    // Losing a race three times is an honest answer; everything else is not.
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'unavailable' });
    return results.filter(({ status }) => status === 'fulfilled').length;
  };

  it('never deadlock on new streams in opposite orders (row 30)', async () => {
    let recorded = 0;
    for (let round = 0; round < 150; round += 1) {
      recorded += await bothWays(Array.from({ length: 8 }, (_, index) => `tally-${round}-${index}`));
    }
    expect(troubles).toEqual([]);
    expect(await owner.value('select count(*)::integer from event')).toBe(recorded);
    expect(recorded).toBeGreaterThan(150 * 8);
  });

  it('never deadlock on a mixture of streams that are new, known and without a head (row 30)', async () => {
    const before = await owner.value<number>('select count(*)::integer from event');
    let recorded = 0;
    for (let round = 0; round < 100; round += 1) {
      if (round % 10 === 0) await owner.rows(`delete from stream_head where stream like 'tally-1%'`);
      recorded += await bothWays(
        Array.from({ length: 9 }, (_, index) =>
          index % 3 === 0 ? `tally-m${round}-${index}` : `tally-${(round * 7 + index) % 150}-${index % 8}`,
        ),
      );
    }
    expect(troubles).toEqual([]);
    expect(await owner.value('select count(*)::integer from event')).toBe(before + recorded);
  });
});
