import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { PostgresLogTails, type LogTails } from './index.js';
import { InMemoryLogTails } from './testing/index.js';

let database: FreshDatabase;
let postgres: PostgresLogTails;
beforeAll(async () => {
  database = await freshDatabase();
  postgres = new PostgresLogTails({ connectionString: database.url, applicationName: 'test' });
});
afterAll(async () => {
  await postgres.close();
  await database.drop();
});

const [FIRST, SECOND, THIRD] = [1, 2, 3].map((n) => `2026-01-01T12:00:00.00${n}Z`) as [string, string, string];

describe.each<[string, () => LogTails]>([
  ['in memory', () => new InMemoryLogTails()],
  ['in Postgres', () => postgres],
])('log tails %s', (_where, make) => {
  const kept = async (tails: LogTails, of: string) => {
    const found = await Promise.all([FIRST, SECOND, THIRD].map((stamp) => tails.read(of, stamp)));
    return found.map((tail) => tail?.bytes.toString('latin1') ?? null);
  };
  /** Two machines with a tail for each of three requests. */
  const filled = async () => {
    const tails = make();
    const [one, other] = [randomUUID(), randomUUID()];
    for (const machineId of [one, other])
      for (const stamp of [FIRST, SECOND, THIRD])
        await tails.keep({ machine: machineId, stamp, bytes: Buffer.from(`for ${stamp.slice(-2, -1)}`) });
    return { tails, one, other };
  };

  it('keeps every byte, up to a MiB and none at all, and says when it came', async () => {
    const tails = make();
    const bytes = Buffer.from(Array.from({ length: 1_048_576 }, (_, index) => index % 256));
    const of = randomUUID();
    await tails.keep({ machine: of, stamp: FIRST, bytes });
    await tails.keep({ machine: of, stamp: SECOND, bytes: Buffer.alloc(0) });
    const whole = await tails.read(of, FIRST);
    expect(whole?.bytes.equals(bytes)).toBe(true);
    expect(whole?.receivedAt).toBeGreaterThan(Date.UTC(2026, 0, 1));
    expect(await kept(tails, of)).toMatchObject([expect.any(String), '', null]);
  });

  it('keeps the first upload for a stamp: a twin answers the same request', async () => {
    const { tails, one } = await filled();
    await tails.keep({ machine: one, stamp: FIRST, bytes: Buffer.from('again') });
    expect(await kept(tails, one)).toEqual(['for 1', 'for 2', 'for 3']);
  });

  it('removes one, all earlier ones, or all of a machine, and nothing else', async () => {
    const { tails, one, other } = await filled();
    await tails.discard(one, THIRD);
    expect(await kept(tails, one)).toEqual(['for 1', 'for 2', null]);
    await tails.discardBefore(one, SECOND);
    expect(await kept(tails, one)).toEqual([null, 'for 2', null]);
    await tails.forget(one);
    expect(await kept(tails, one)).toEqual([null, null, null]);
    expect(await kept(tails, other)).toEqual(['for 1', 'for 2', 'for 3']);
  });
});
