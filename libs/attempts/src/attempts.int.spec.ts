import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { PostgresAttempts, type Attempts, type AttemptRule } from './index.js';
import { InMemoryAttempts } from './testing/index.js';

let database: FreshDatabase;
let instances: readonly PostgresAttempts[];
beforeAll(async () => {
  database = await freshDatabase();
  const connection = { connectionString: database.url, applicationName: 'test' };
  instances = [new PostgresAttempts(connection), new PostgresAttempts(connection), new PostgresAttempts(connection)];
});
afterAll(async () => {
  await Promise.all(instances.map((each) => each.close()));
  await database.drop();
});

const oneMore: AttemptRule<{ readonly n: number }, number> = (memory) => {
  const n = (memory?.n ?? 0) + 1;
  return { memory: { n }, answer: n };
};

describe.each<[string, () => readonly Attempts[]]>([
  ['in memory', () => [new InMemoryAttempts()]],
  ['in Postgres', () => instances],
])('attempts %s', (_where, make) => {
  it('are counted on top of each other, however many come at one moment to however many instances, and by key', async () => {
    const all = make();
    const [key, other] = [randomUUID(), randomUUID()];
    const counted = await Promise.all(
      Array.from({ length: 30 }, (_, index) => (all[index % all.length] as Attempts).count(key, oneMore)),
    );
    expect(counted.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    expect(await (all.at(-1) as Attempts).count(other, oneMore)).toBe(1);
  });

  it('are judged by one clock that goes forward', async () => {
    const [attempts] = make() as [Attempts];
    const at = () => attempts.count<null, number>(randomUUID(), (_memory, now) => ({ memory: null, answer: now }));
    const [first, second] = [await at(), await at()];
    expect(first).toBeGreaterThan(Date.UTC(2026, 0, 1));
    expect(second).toBeGreaterThanOrEqual(first);
  });
});

it('forgets in Postgres what was not tried for an hour, some at each new key', async () => {
  const [attempts] = instances as [PostgresAttempts];
  const [old, later] = [randomUUID(), randomUUID()];
  await attempts.count(old, oneMore);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("update attempt set counted_at = now() - interval '61 minutes' where key = $1", [old]);
  await attempts.count(later, oneMore);
  await attempts.count(old, oneMore);
  expect(await attempts.count(old, oneMore)).toBe(2);
  await client.end();
});
