import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { LogBackedStore } from '@rollcall/event-store';
import { tally } from '@rollcall/event-store/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, testCluster, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { PostgresLog } from './index.js';

const actor = { kind: 'plane', id: 'test' } as const;
const HELD = 55_001;

jest.setTimeout(120_000);

describe('batches become visible in the order of their numbers', () => {
  let database: FreshDatabase;
  let owner: Owner;

  beforeAll(async () => {
    database = await freshDatabase();
    owner = await Owner.connect(database.ownerUrl);
    // A failpoint inside `append`, after the number was taken: writer A stops there for as long as somebody holds the lock.
    await owner.rows(`
      create function hold_a() returns trigger language plpgsql as $$ begin
        perform set_config('lock_timeout', '0', true);
        perform pg_advisory_xact_lock_shared(${HELD});
        return new;
      end $$;
      create trigger hold_a before insert on batch for each row
        when (new.number = 101 and current_setting('application_name') = 'A writer') execute function hold_a()`);
  });
  afterAll(async () => {
    await owner[Symbol.asyncDispose]();
    await database.drop();
  });

  it('shows nothing behind a held append, and gives its number to the next when it dies (C22, U1)', async () => {
    await using stack = new AsyncDisposableStack();
    const instance = (applicationName: string) => {
      const log = new PostgresLog({ connectionString: database.url, applicationName });
      const store = new LogBackedStore(log);
      stack.defer(() => store.close());
      return store;
    };
    const [a, b, reader] = [instance('A'), instance('B'), instance('R')];
    const add = (store: LogBackedStore, stream: string, commandId: string = randomUUID()) =>
      store.decide(tally, { stream }, { type: 'Add', amount: 1 }, { actor, commandId });
    for (let number = 1; number <= 100; number += 1)
      expect((await add(b, `tally-${number}`)).batch).toBe(BigInt(number));

    // Readers look every 50 ms from checkpoint 100 on, and note what each look brought.
    const looks: { readonly numbers: readonly bigint[]; readonly while: string }[] = [];
    let now = 'before';
    let checkpoint = 100n;
    const reading = new AbortController();
    const follow = (async () => {
      while (!reading.signal.aborted) {
        const batches = await reader.readBatches(checkpoint, 10);
        looks.push({ numbers: batches.map(({ number }) => number), while: now });
        checkpoint = batches.at(-1)?.number ?? checkpoint;
        await wait(50);
      }
    })();
    stack.defer(() => {
      reading.abort();
      return follow;
    });

    await owner.rows('select pg_advisory_lock($1)', [HELD]);
    const commandOfA = randomUUID();
    const appendA = add(a, 'tally-a', commandOfA);
    await eventually('A is held inside the function', async () => (await lockWaiters('A writer')).length === 1);
    const [processOfA] = await owner.sessions('A writer');
    now = 'held';
    const appendB = add(b, 'tally-b');
    await eventually('B waits for the record', async () => (await lockWaiters('B writer')).length === 1);
    const before = looks.length;
    await eventually('readers have looked five times meanwhile', () => Promise.resolve(looks.length >= before + 5));
    now = 'after';
    await owner.terminate([processOfA as number]);
    await owner.rows('select pg_advisory_unlock($1)', [HELD]);

    expect((await appendB).batch).toBe(101n);
    // A's caller was not told anything false: the same command went again, on a new connection, after B.
    expect(await appendA).toMatchObject({ repeated: false, batch: 102n });
    await eventually('the reader has both', () => Promise.resolve(checkpoint === 102n));
    reading.abort();
    await follow;
    expect(looks.filter((look) => look.while === 'held' && look.numbers.length > 0)).toEqual([]);
    expect(looks.flatMap((look) => look.numbers)).toEqual([101n, 102n]);
    expect(await owner.value('select max(number) = count(*) from batch')).toBe(true);
    expect(await owner.value('select count(*)::integer from event where command_id = $1', [commandOfA])).toBe(1);
  });

  it('shows readers everything although a transaction has been writing in another database all along (row 29)', async () => {
    const elsewhere = new pg.Client({ connectionString: testCluster().url });
    await elsewhere.connect();
    await elsewhere.query(
      'begin; create temporary table long_running (n integer); insert into long_running values (1)',
    );
    const store = new LogBackedStore(new PostgresLog({ connectionString: database.url }));
    try {
      const { batch } = await store.decide(tally, { stream: 'tally-c' }, { type: 'Add', amount: 1 }, { actor });
      const after = (batch ?? 0n) - 1n;
      expect((await store.readBatches(after, 10)).map(({ number }) => number)).toEqual([batch]);
    } finally {
      await store.close();
      await elsewhere.end();
    }
  });

  const lockWaiters = async (applicationName: string) =>
    owner.rows(
      `select pid from pg_stat_activity where datname = current_database() and application_name = $1 and wait_event_type = 'Lock'`,
      [applicationName],
    );
});
