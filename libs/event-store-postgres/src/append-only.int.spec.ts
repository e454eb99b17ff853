import { LogBackedStore } from '@rollcall/event-store';
import { tally } from '@rollcall/event-store/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { PostgresLog } from './index.js';

const actor = { kind: 'plane', id: 'test' } as const;
const CHANGES = ['update', 'delete', 'truncate'] as const;

describe('the record is append-only', () => {
  let database: FreshDatabase;
  let owner: Owner;
  let application: pg.Client;
  let tables: readonly string[];

  const statement = (change: (typeof CHANGES)[number], table: string): string => {
    const column = table === 'batch' ? 'recorded_at' : 'batch';
    return {
      update: `update ${table} set ${column} = ${column}`,
      delete: `delete from ${table}`,
      truncate: `truncate ${table}`,
    }[change];
  };
  const partitions = async () =>
    (
      await owner.rows<{ name: string }>(
        `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'check_in'::regclass`,
      )
    ).map(({ name }) => name);

  beforeAll(async () => {
    database = await freshDatabase();
    owner = await Owner.connect(database.ownerUrl);
    application = new pg.Client({ connectionString: database.url });
    await application.connect();
    const store = new LogBackedStore(new PostgresLog({ connectionString: database.url }));
    await store.decide(tally, { stream: 'tally-a' }, { type: 'Add', amount: 1 }, { actor });
    await store.close();
    // Some that the migration made, and some that are made later.
    await owner.rows('select make_check_in_partitions(20)');
    tables = ['batch', 'event', 'check_in', ...(await partitions())];
  });
  afterAll(async () => {
    await application.end();
    await owner[Symbol.asyncDispose]();
    await database.drop();
  });

  it('is kept in a partition per day, from yesterday to as far ahead as was asked, without one for the rest (row 28)', async () => {
    expect(tables).toHaveLength(3 + 22);
    // Of the record; the job queue of the webhooks has tables of its own.
    expect(
      await owner.value(`select partdefid::integer from pg_partitioned_table where partrelid = 'check_in'::regclass`),
    ).toBe(0);
  });

  it.each(CHANGES)('refuses the application role to %s any table or partition', async (change) => {
    for (const table of tables) {
      await expect(application.query(statement(change, table))).rejects.toMatchObject({ code: '42501' });
    }
  });

  it.each(['origin', 'replica'])('refuses everybody else too, in the replication role %s', async (role) => {
    await owner.rows(`set session_replication_role = ${role}`);
    for (const table of tables) {
      for (const change of CHANGES) {
        await expect(owner.rows(statement(change, table))).rejects.toThrow(/the record is append-only/);
      }
    }
    await owner.rows('reset session_replication_role');
    expect(await owner.value('select count(*)::integer from event')).toBe(1);
  });

  it.each([
    'insert into batch (number, recorded_at, events, checks) values (99, now(), 0, 0)',
    `insert into claim (key, stream) values ('badge:1', 'tally-a')`,
    `update claim set released = true`,
    `insert into stream_head (stream, revision, fold, state) values ('tally-z', 1, 1, '{}')`,
    `update stream_head set revision = 7`,
    `delete from stream_head`,
    `update record_epoch set epoch = gen_random_uuid()`,
    'alter table batch disable trigger append_only',
    `select guard_append_only('batch')`,
  ])('lets the application role write through append only: %s', async (change) => {
    await expect(application.query(change)).rejects.toMatchObject({ code: '42501' });
  });

  it('appends in read committed only, because it compares after the lock', async () => {
    await application.query('begin isolation level repeatable read');
    await expect(
      application.query(`select append(${Array.from({ length: 31 }, () => 'null').join(',')}, null, 0, 0)`),
    ).rejects.toThrow('append needs read committed');
    await application.query('rollback');
  });
});
