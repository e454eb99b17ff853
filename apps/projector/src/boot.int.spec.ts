import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createLogger } from '@rollcall/nest-platform';
import { recordingLogger } from '@rollcall/nest-platform/testing';
import { READ_MODELS } from '@rollcall/read-models';
import pg from 'pg';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { readProjectorConfig, start } from './index.js';

const silent = createLogger({ name: 'test', level: 'silent' });
let database: FreshDatabase;

beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

const config = () => readProjectorConfig({ ROLLCALL_DATABASE_URL: database.url, ROLLCALL_PROJECTOR_PORT: '0' });

it('builds its root module, follows the record, tells its health on the loopback, and ends in order', async () => {
  const projector = await start(config(), silent);
  try {
    expect(projector.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${projector.url}/healthz`)).status).toBe(200);
    const health = () =>
      fetch(`${projector.url}/readyz`).then((answer) => answer.json() as Promise<{ status: string }>);
    await eventually('ready', async () => (await health()).status === 'ready');
    expect(await health()).toEqual({
      status: 'ready',
      readModels: READ_MODELS.map(({ name }) => ({ name, state: 'following', checkpoint: '0' })),
      feed: null,
      webhooks: { state: 'following', problem: 'Webhooks wait: ROLLCALL_WEBHOOK_KEY_FILE is not set.' },
      absences: { state: 'watching', problem: null },
    });
  } finally {
    await projector.close();
  }
  await expect(fetch(`${projector.url}/healthz`)).rejects.toThrow('fetch failed');
});

it('names the port that is taken, and the setting that chooses another', async () => {
  const projector = await start(config(), silent);
  try {
    const port = Number(new URL(projector.url).port);
    await expect(start({ ...config(), port }, silent)).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is taken by another program. Choose another with ROLLCALL_PROJECTOR_PORT.`,
    );
  } finally {
    await projector.close();
  }
});

it('refuses to start on a database that lacks migrations, and names them', async () => {
  await using owner = await asOwner();
  await owner.query(`delete from kysely_migration where name = '0002_read_models'`);
  try {
    await expect(start(config(), silent)).rejects.toThrow(
      'The database has not run these migrations: 0002_read_models',
    );
  } finally {
    await owner.query(`insert into kysely_migration (name, timestamp) values ('0002_read_models', '')`);
  }
});

it('is not ready while a read model cannot be written, says so, and goes on by itself', async () => {
  const { logger, lines } = recordingLogger();
  await using owner = await asOwner();
  await owner.query('revoke update on read_model from rollcall_app');
  const projector = await start(config(), logger);
  try {
    await owner.query(`update read_model set rebuild_requested = true where name = 'presence'`);
    await eventually('the warning', () =>
      Promise.resolve(lines().some(({ msg }) => msg === 'cannot follow the record; trying again')),
    );
    expect((await fetch(`${projector.url}/readyz`)).status).toBe(503);
    await owner.query('grant update on read_model to rollcall_app');
    await eventually('ready', async () => (await fetch(`${projector.url}/readyz`)).status === 200);
  } finally {
    await projector.close();
  }
});

/** The session of an operator with all rights. */
const asOwner = async () => {
  const client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  return {
    query: (text: string) => client.query(text),
    [Symbol.asyncDispose]: () => client.end(),
  };
};
