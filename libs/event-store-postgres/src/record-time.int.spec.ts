import { LogBackedStore } from '@rollcall/event-store';
import { tally } from '@rollcall/event-store/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { PostgresLog } from './index.js';

const MIGRATION = join(import.meta.dirname, '../../../infra/migrations/0026_ears.sql');
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

  it('says in each batch when the newest check or mark before it was, over an upgrade as well, and finds the pauses of before (B1)', async () => {
    await owner.rows(
      'alter table batch drop column heard_before; drop table earlier_pause; drop function heard_until(bigint)',
    );
    await owner.rows(`insert into batch (number, recorded_at, events, checks) values (1, '2026-01-01T12:00:00Z', 0, 0),
      (2, '2026-01-01T12:00:20Z', 1, 0), (3, '2026-01-01T12:00:40Z', 1, 1), (4, '2026-01-01T12:01:40Z', 1, 0)`);
    await owner.rows(await readFile(MIGRATION, 'utf8'));
    const noon = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds));
    expect(await owner.rows('select * from earlier_pause order by since')).toEqual([
      { batch: '3', since: noon(0), until: noon(40) },
      { batch: null, since: noon(40), until: null },
    ]);
    await add();
    expect(await store.mark(5_000)).toBe(true);
    const marked = new Date((await store.newest()).recordedAt);
    await add();
    // What others record is no reason to wait with a mark.
    expect(await store.mark(60_000)).toBe(false);
    expect(await owner.rows('select number, heard_before from batch order by number')).toEqual([
      ...['1', '2', '3', '4'].map((number) => ({ number, heard_before: null })),
      { number: '5', heard_before: noon(40) },
      { number: '6', heard_before: noon(40) },
      { number: '7', heard_before: marked },
    ]);
    const heard = await owner.rows('select heard_until(number) as heard from batch order by number');
    expect(heard).toEqual(
      [noon(0), noon(0), noon(40), noon(40), noon(40), marked, marked].map((each) => ({ heard: each })),
    );
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
