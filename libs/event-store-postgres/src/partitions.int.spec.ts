import { randomUUID } from 'node:crypto';
import { credentialKey, machine, machineStream } from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { PostgresEventStore, PostgresLog } from './index.js';

const actor = { kind: 'person', id: 'test' } as const;

let database: FreshDatabase;
let owner: Owner;
let store: PostgresEventStore;

beforeEach(async () => {
  database = await freshDatabase();
  owner = await Owner.connect(database.ownerUrl);
  store = await PostgresEventStore.connect({ connectionString: database.url });
});
afterEach(async () => {
  await store.close();
  await owner[Symbol.asyncDispose]();
  await database.drop();
});

/** As if the wall clock had been forty days ahead until now: further than partitions are made. */
const setBackByFortyDays = () =>
  owner.value<Date>(`insert into batch (number, recorded_at, events, checks)
    select coalesce(max(number), 0) + 1, date_trunc('milliseconds', clock_timestamp()) + interval '40 days', 0, 0 from batch
    returning recorded_at`);

const joined = async (): Promise<() => Promise<number>> => {
  const machineId = randomUUID();
  const keyHash = machineId.replaceAll('-', '').padStart(64, '0');
  const token = { id: machineId, expiresAt: Date.now() + 3_600_000, owner: 'person-1', name: null };
  const admission = admit({ machineId, keyHash, identifierHash: machineId, token });
  await store.decide(machine, { stream: machineStream(machineId) }, admission, { actor });
  return async () => {
    const first = check({ keyHash, checkId: randomUUID() });
    const options = { actor, commandId: null };
    return (await store.decide(machine, { claim: credentialKey(keyHash) }, first, options)).recordedAt;
  };
};

it("goes on recording checks where the record's time is on a day that nobody prepared for", async () => {
  const checkIn = await joined();
  const ahead = await setBackByFortyDays();
  expect(await checkIn()).toBeGreaterThanOrEqual(ahead.getTime());
  // And on the days that follow, which the wall clock comes to much later.
  const days = await owner.rows(`select 1 from pg_inherits where inhparent = 'check_in'::regclass`);
  expect(days.length).toBeGreaterThan(16 + 14);
});

it('makes no mark where no check could be recorded: deaf is deaf (B1)', async () => {
  await setBackByFortyDays();
  await owner.rows('revoke execute on function make_check_in_partitions from rollcall_app');
  await expect(store.mark(0)).rejects.toThrow('no partition');
  await owner.rows('grant execute on function make_check_in_partitions to rollcall_app');
  expect(await store.mark(0)).toBe(true);
});

it('tells until when check-ins have a place, and says that no further one can be made', async () => {
  const troubles: unknown[] = [];
  const lastDay = () =>
    owner.value<string>(`select max(right(inhrelid::regclass::text, 8)) from pg_inherits
    where inhparent = 'check_in'::regclass`);
  const dayOf = (instant: number | null) => new Date((instant ?? 0) - 1).toISOString().slice(0, 10).replaceAll('-', '');
  await owner.rows('revoke execute on function make_check_in_partitions from rollcall_app');
  const log = new PostgresLog({
    connectionString: database.url,
    partitionsEveryMs: 5,
    onTrouble: (error) => troubles.push(error),
  });
  try {
    await eventually('the trouble is told', () => Promise.resolve(troubles.length > 0));
    expect(troubles[0]).toMatchObject({
      message: 'The partitions for the check-ins of the next days could not be made',
      cause: expect.objectContaining({ message: 'permission denied for function make_check_in_partitions' }),
    });
    expect(log.checkInsEnd()).toBeNull();
    await setBackByFortyDays();
    await owner.rows('grant execute on function make_check_in_partitions to rollcall_app');
    await eventually('they are made', () => Promise.resolve(log.checkInsEnd() !== null));
    expect(dayOf(log.checkInsEnd())).toBe(await lastDay());
    expect(log.checkInsEnd()).toBeGreaterThan(store.checkInsEnd() ?? 0);
    expect(store.checkInsEnd()).toBeGreaterThan(Date.now() + 13 * 86_400_000);
  } finally {
    await log.close();
  }
});
