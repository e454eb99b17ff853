import { LogBackedStore } from '@rollcall/event-store';
import { tally } from '@rollcall/event-store/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { PostgresLog } from './index.js';

const HOUR = 3_600_000;
const actor = { kind: 'plane', id: 'test' } as const;

describe("the record's time", () => {
  let database: FreshDatabase;
  let owner: Owner;
  let steadily: number;
  let store: LogBackedStore;

  beforeEach(async () => {
    database = await freshDatabase();
    owner = await Owner.connect(database.ownerUrl);
    steadily = 1_000;
    store = new LogBackedStore(new PostgresLog({ connectionString: database.url, steady: () => steadily }));
  });
  afterEach(async () => {
    await store.close();
    await owner[Symbol.asyncDispose]();
    await database.drop();
  });

  const add = (on = store) => on.decide(tally, { stream: 'tally-a' }, { type: 'Add', amount: 1 }, { actor });

  /** As if the wall clock had been an hour ahead until now. */
  const stepBackByAnHour = () =>
    owner.value<Date>(`insert into batch (number, recorded_at, events, checks)
      select coalesce(max(number), 0) + 1, date_trunc('milliseconds', clock_timestamp()) + interval '1 hour', 0, 0 from batch returning recorded_at`);

  it('never goes back with the wall clock, and runs on by the steady clock of the writers (row 31)', async () => {
    const ahead = (await stepBackByAnHour()).getTime();
    const first = await add();
    expect(first.recordedAt).toBe(ahead); // This writer knew of no batch yet: time stands, and does not go back.
    steadily += 250;
    expect((await add()).recordedAt).toBe(ahead + 250);
    steadily += 1_500;
    expect((await add()).recordedAt).toBe(ahead + 1_750);
  });

  it('goes on by marks for an instance that was started after the step and hears nobody (B1, row 31)', async () => {
    const ahead = (await stepBackByAnHour()).getTime();
    expect(await store.mark(5_000)).toBe(false);
    steadily += 5_000;
    expect(await store.mark(5_000)).toBe(true);
    expect((await store.newest()).recordedAt).toBe(ahead + 5_000);
  });

  it('is told to rules and readers as it is recorded, so that no decision sees a time before the newest batch (row 31)', async () => {
    const ahead = (await stepBackByAnHour()).getTime();
    let seen = 0;
    const watching: typeof tally = {
      ...tally,
      decide: (state, command, moment) => {
        seen = moment.now;
        return tally.decide(state, command, moment);
      },
    };
    await store.decide(watching, { stream: 'tally-a' }, { type: 'Add', amount: 1 }, { actor });
    expect(seen).toBe(ahead);
    expect((await store.newest()).recordedAt).toBe(ahead);
  });

  it('is one for two writers, of which one was away while the clock was set back (row 31)', async () => {
    const other = new LogBackedStore(new PostgresLog({ connectionString: database.url, steady: () => 50_000 }));
    await add();
    const ahead = (await stepBackByAnHour()).getTime();
    steadily += 2 * HOUR; // Two hours went by for this one since its last append: then so they did for all.
    const mine = await add();
    expect(mine.recordedAt).toBeGreaterThan(ahead + HOUR / 2);
    expect((await add(other)).recordedAt).toBe(mine.recordedAt);
    await other.close();
  });

  it('follows the wall clock again once that has caught up', async () => {
    const before = Date.now();
    const { recordedAt } = await add();
    steadily += HOUR;
    const after = await add();
    expect(recordedAt).toBeGreaterThanOrEqual(before - 1);
    expect(after.recordedAt).toBeLessThan(before + HOUR / 2);
  });
});
