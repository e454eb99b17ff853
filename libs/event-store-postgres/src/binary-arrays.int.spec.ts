import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { booleans, integers, smallints, texts, Unencodable, uuids } from './binary-arrays.js';

const TEXT = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));

describe('an array in Postgres’ binary format', () => {
  let database: FreshDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    database = await freshDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  const back = async (type: string, value: Buffer): Promise<unknown> =>
    (await client.query<{ it: unknown }>(`select to_jsonb($1::${type}[]) as it`, [value])).rows[0]?.it;

  it.each([
    ['boolean', booleans, fc.boolean()],
    ['smallint', smallints, fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 })],
    ['integer', integers, fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })],
    ['text', texts, TEXT],
    ['uuid', uuids, fc.uuid()],
  ] as const)('arrives as it was sent: %s', async (type, encode, element) => {
    const arrays = fc.array(fc.option<unknown>(element as fc.Arbitrary<unknown>), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(arrays, async (values) =>
        expect(await back(type, (encode as (values: readonly unknown[]) => Buffer)(values))).toEqual(values),
      ),
      { numRuns: 50, examples: [[[]], [[null]]] },
    );
  });

  it.each([
    ['a smallint', () => smallints([2 ** 15])],
    ['an integer, but has a fraction', () => integers([1.5])],
    ['an integer', () => integers([2 ** 31])],
    ['a UUID', () => uuids(['7'])],
    ['a UUID with a letter too many', () => uuids(['0192e4a0-0000-7000-8000-00000000000g'])],
  ])('refuses what is not %s', (_, encode) => expect(encode).toThrow(Unencodable));
});
