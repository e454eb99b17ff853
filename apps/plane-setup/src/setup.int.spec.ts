import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { person } from '@rollcall/person';
import { decodeSignInLink, hashOf } from '@rollcall/wire';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { run } from './index.js';

let database: FreshDatabase;
let directory: string;

beforeAll(async () => {
  database = await freshDatabase();
  directory = await mkdtemp(join(tmpdir(), 'rollcall-setup-'));
});
afterAll(async () => {
  await database.drop();
  await rm(directory, { recursive: true });
});

const setup = async (args: readonly string[], environment: Record<string, string> = {}) => {
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(args, { environment, out: (line) => out.push(line), err: (line) => err.push(line) });
  return { code, out: out.join('\n'), err: err.join('\n') };
};
const settings = (url: string) => ({
  ROLLCALL_DATABASE_URL: url,
  ROLLCALL_CA_DIR: directory,
  ROLLCALL_MIGRATIONS_DIR: resolve(import.meta.dirname, '../../../infra/migrations'),
});

it('says when there is nothing to migrate (U6)', async () =>
  expect(await setup(['migrate'], settings(database.ownerUrl))).toMatchObject({
    code: 0,
    out: 'The database is up to date.',
  }));

it('makes links for one first person, each of which the record knows (U6)', async () => {
  const links = [
    await setup(['sign-in-link', '--person', 'Ada'], settings(database.url)),
    await setup(['sign-in-link'], settings(database.url)),
  ];
  const store = await PostgresEventStore.connect({ connectionString: database.url });
  const known = await Promise.all(
    links.map(async ({ out }) => {
      const { secret, pins } = decodeSignInLink(out);
      expect(pins).toHaveLength(1);
      return store.view(person, { claim: `sign-in-link:${hashOf(secret)}` });
    }),
  );
  await store.close();
  expect(known.map((view) => view?.state.name)).toEqual(['Ada', 'Ada']);
});

it('gives the record another epoch after a restore', async () => {
  const store = await PostgresEventStore.connect({ connectionString: database.url });
  const before = await store.epoch();
  expect(await setup(['restore-mark'], settings(database.url))).toMatchObject({ code: 0 });
  expect(await store.epoch()).not.toBe(before);
  await store.close();
});

it.each([
  ['without a database', ['migrate'], {}, 'ROLLCALL_DATABASE_URL is not set'],
  [
    'with an address that is no origin',
    ['sign-in-link'],
    { ROLLCALL_OPERATOR_API_ADDRESS: 'http://plane/x' },
    'ROLLCALL_OPERATOR_API_ADDRESS',
  ],
  ['with a person of no name', ['sign-in-link', '--person', ' '], {}, '--person'],
  ['without a NATS', ['feed'], {}, 'ROLLCALL_NATS_URL is not set'],
  ['with a NATS elsewhere in the clear', ['feed'], { ROLLCALL_NATS_URL: 'nats://nats.example:4222' }, 'use tls:'],
  [
    'with half of the credentials',
    ['feed'],
    { ROLLCALL_NATS_URL: 'nats://127.0.0.1', ROLLCALL_NATS_RELAY_CREDENTIALS_FILE: '/a' },
    'ROLLCALL_NATS_READER_CREDENTIALS_FILE',
  ],
  ['with an unknown command', ['unknown'], {}, 'unknown'],
])('names what is wrong %s, and changes nothing', async (_, args, environment, words) => {
  const { code, err } = await setup(args, environment);
  expect(code).toBe(2);
  expect(err).toContain(words);
});
