import { expect, it } from '@jest/globals';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { WebhookTables } from '../tables.js';
import { FleetQuestions } from './fleet-questions.js';

it('asks nothing about an owner for a minute whose fleet took too long, and goes on asking about the others (B4)', async () => {
  const database = new Kysely<WebhookTables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (each) => new PostgresIntrospector(each),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const clock = new ManualClock();
  const questions = new FleetQuestions(clock);
  const asked: string[] = [];
  const ask = (owner: string, code: string | null = null) =>
    database.transaction().execute((transaction) =>
      questions.ask(transaction, owner, () => {
        asked.push(owner);
        return code === null ? Promise.resolve(7) : Promise.reject(Object.assign(new Error('no'), { code }));
      }),
    );
  expect(await ask('ada', '57014')).toBeNull();
  expect(await ask('bob', '55P03')).toBeNull();
  await clock.advance(59_999);
  expect([await ask('ada'), await ask('bob'), await ask('eve')]).toEqual([null, null, 7]);
  await clock.advance(1);
  expect(await ask('ada')).toBe(7);
  expect(asked).toEqual(['ada', 'bob', 'eve', 'ada']);
  await expect(ask('eve', '42P01')).rejects.toThrow('no');
});
