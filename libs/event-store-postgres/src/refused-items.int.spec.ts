import { randomUUID } from 'node:crypto';
import { LogBackedStore, type AppendItem, type EventStore } from '@rollcall/event-store';
import { checkOf, tally } from '@rollcall/event-store/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { PostgresLog } from './index.js';

const actor = { kind: 'plane', id: 'test' } as const;

describe('what Postgres itself refuses', () => {
  let database: FreshDatabase;
  let owner: Owner;
  let log: PostgresLog;
  let store: LogBackedStore;
  let troubles: string[];
  let sizes: number[];

  beforeEach(async () => {
    database = await freshDatabase();
    owner = await Owner.connect(database.ownerUrl);
    log = new PostgresLog({ connectionString: database.url, applicationName: 'mine' });
    troubles = [];
    sizes = [];
    const append = log.append.bind(log);
    log.append = (items) => {
      sizes.push(items.length);
      return append(items);
    };
    store = new LogBackedStore(log, { onTrouble: (error) => troubles.push(String(error)) });
  });
  afterEach(async () => {
    await store.close();
    await owner[Symbol.asyncDispose]();
    await database.drop();
  });

  const add = (stream: string, commandId: string = randomUUID(), on: EventStore = store) =>
    on.decide(tally, { stream }, { type: 'Add', amount: 1 }, { actor, commandId });
  const neighbours = () => Array.from({ length: 15 }, (_, index) => add(`tally-${index}`));
  const hear = (stream: string, counter: number) =>
    store.decide(
      tally,
      { stream },
      { type: 'Hear', check: { ...checkOf(stream, 1), boot: { counter, id: 'f00dcafe' } } },
      { actor, commandId: null },
    );

  it.each([
    ['a number that is out of range', 'out of range', () => hear(`machine-${randomUUID()}`, 3_000_000_000)],
    ['an id that is none', '"7" is no UUID', () => hear('machine-7', 1)],
    [
      'a key that no index takes',
      '54000',
      () =>
        store.decide(
          tally,
          { stream: 'tally-x' },
          { type: 'Hold', key: Array.from({ length: 300 }, () => randomUUID()).join('') },
          { actor },
        ),
    ],
    ['a command id that is none', '22P02', () => add('tally-x', 'not-an-id')],
  ] as const)('%s (%s) fails its own caller alone, and its neighbours are recorded (C11)', async (_, code, bad) => {
    const [rejected, ...others] = await Promise.allSettled([bad(), ...neighbours()]);
    expect(rejected).toMatchObject({
      status: 'rejected',
      reason: { name: 'ItemsRejected', message: expect.stringContaining(code) },
    });
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 'fulfilled'));
    expect(await owner.value('select count(*)::integer from event')).toBe(15);
    expect(await owner.value('select count(*)::integer from check_in')).toBe(0);
  });

  it('an event id that is taken (23505) is found by halving the batch, and nobody else is hurt (C11)', async () => {
    await add('tally-first');
    const [first] = await store.readStream('tally-first');
    const taken = first?.kind === 'event' ? first.eventId : '';
    const append = log.append.bind(log);
    log.append = (items) =>
      append(
        items.map((item): AppendItem =>
          item.stream === 'tally-bad'
            ? { ...item, events: item.events.map((event) => ({ ...event, eventId: taken })) }
            : item,
        ),
      );
    sizes.length = 0;
    const [rejected, ...others] = await Promise.allSettled([add('tally-bad'), ...neighbours()]);
    expect(rejected).toMatchObject({ status: 'rejected', reason: { name: 'ItemsRejected' } });
    expect(others.every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(sizes).toEqual([16, 8, 4, 2, 1, 1, 2, 4, 8]);
    expect(await store.view(tally, { stream: 'tally-bad' })).toBeNull();
  });

  it('a day without a partition is nobody’s bad item: the record is unavailable, records nothing, and heals (row 28)', async () => {
    await owner.rows(`do $$ declare p regclass; begin
      for p in select inhrelid from pg_inherits where inhparent = 'check_in'::regclass loop execute format('drop table %s', p); end loop; end $$;
      revoke execute on function make_check_in_partitions from rollcall_app`);
    const impatient = new LogBackedStore(log, { deadlineMs: 300, onTrouble: (error) => troubles.push(String(error)) });
    const stream = `machine-${randomUUID()}`;
    const check = checkOf(stream, 1);
    const heard = (on: EventStore) => on.decide(tally, { stream }, { type: 'Hear', check }, { actor, commandId: null });
    // On a busy machine the caller's patience may end before the database has been asked, and nobody asks it after that.
    await eventually('the trouble is told', async () => {
      await expect(heard(impatient)).rejects.toMatchObject({ code: 'unavailable', details: { retryAfter: 2 } });
      return troubles.length > 0;
    });
    expect(troubles[0]).toMatch(/RecordUnavailable.*no partition/);
    expect((await log.newest()).number).toBe(0n);
    // A ledger event needs none, and is taken.
    await add('tally-a');
    const again = heard(store);
    await owner.rows('grant execute on function make_check_in_partitions to rollcall_app');
    expect(await again).toMatchObject({ repeated: false, revision: 1 });
  });

  it('a lock that is held too long is waited for and the whole batch is sent again (55P03)', async () => {
    await add('tally-0');
    await owner.rows('select pg_advisory_lock(7723406, 1)');
    const waiting = neighbours();
    await eventually('the wait for the lock has ended once', () => Promise.resolve(troubles.length > 0), 10_000);
    await owner.rows('select pg_advisory_unlock(7723406, 1)');
    expect((await Promise.all(waiting)).every(({ repeated }) => !repeated)).toBe(true);
    expect(troubles[0]).toMatch(/TryAgain: 55P03/);
    expect(await owner.value('select count(*)::integer from event')).toBe(16);
  });

  it('a deadlock that somebody else provokes costs one more try (40P01)', async () => {
    await add('tally-a');
    await add('tally-b');
    await owner.rows(`set deadlock_timeout = '10s'; set lock_timeout = 0`);
    let scenes = 0;
    // Postgres looks for one once, a second after the wait has begun: on a busy machine the lock that completes it may come later.
    while (scenes < 5 && !troubles.join().includes('40P01')) {
      scenes += 1;
      await owner.rows(`begin; select from stream_head where stream = 'tally-b' for update`);
      const both = [add('tally-a'), add('tally-b')];
      await eventually('the append waits for the second head', async () => (await waiters('mine writer')) > 0);
      // The append holds a and wants b; this session holds b and wants a. The append looks for a deadlock first.
      await owner.rows(`select from stream_head where stream = 'tally-a' for update`).catch(() => undefined);
      await owner.rows('rollback');
      await Promise.all(both);
    }
    expect(troubles.join()).toMatch(/TryAgain: 40P01/);
    expect(await owner.value('select count(*)::integer from event')).toBe(2 + 2 * scenes);
  });

  const waiters = async (applicationName: string) => {
    const watcher = await Owner.connect(database.ownerUrl);
    const count = await watcher.value<number>(
      `select count(*)::integer from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock' and datname = current_database()`,
      [applicationName],
    );
    await watcher[Symbol.asyncDispose]();
    return count;
  };
});
