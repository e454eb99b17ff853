import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { injectableApp } from '@rollcall/nest-platform/testing';
import { kindsFor } from '@rollcall/authorisation';
import { createLogger, routesOf } from '@rollcall/nest-platform';
import { makeSecret } from '@rollcall/wire';
import { InMemoryAttempts } from '@rollcall/attempts/testing';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { InMemoryLogTails } from '@rollcall/log-tails/testing';
import { openReadModels } from '@rollcall/read-models';
import { openWebhooks, SystemResolver, WebhookSecrets } from '@rollcall/webhooks';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { MachineApiLocation, OperatorApiModule, readOperatorApiConfig, start, WebhookAccess } from './index.js';

jest.setTimeout(60_000);

const silent = createLogger({ name: 'test', level: 'silent' });
let database: FreshDatabase;
let directory: string;

beforeAll(async () => {
  [database, directory] = await Promise.all([freshDatabase(), mkdtemp(join(tmpdir(), 'rollcall-operator-'))]);
});
afterAll(() => Promise.all([database.drop(), rm(directory, { recursive: true })]));

const config = (more: Record<string, string> = {}) =>
  readOperatorApiConfig({
    ROLLCALL_DATABASE_URL: database.url,
    ROLLCALL_OPERATOR_API_PORT: '0',
    ROLLCALL_CA_DIR: directory,
    ...more,
  });

it('builds its root module, says where it answers, and ends in order', async () => {
  const api = await start(config(), silent);
  expect(api.url).toBe(`https://127.0.0.1:${api.port}`);
  expect(api.pins).toHaveLength(1);
  await api.close();
});

it('names the port that is taken, and the setting that chooses another', async () => {
  const api = await start(config(), silent);
  try {
    await expect(start(config({ ROLLCALL_OPERATOR_API_PORT: String(api.port) }), silent)).rejects.toThrow(
      `Port ${api.port} on 127.0.0.1 is taken by another program. Choose another with ROLLCALL_OPERATOR_API_PORT.`,
    );
  } finally {
    await api.close();
  }
});

it('refuses to start on a database that lacks migrations, and names them', async () => {
  const empty = new URL(database.ownerUrl);
  empty.pathname = '/template1';
  await expect(start(config({ ROLLCALL_DATABASE_URL: empty.toString() }), silent)).rejects.toThrow(/0002_read_models/);
});

describe('who may call what (O3)', () => {
  it('answers 401 to a stranger, a machine and a token that nobody issued, on every route that asks who calls', async () => {
    const app = await injectableApp(
      OperatorApiModule.on({
        store: new InMemoryEventStore(),
        readModels: openReadModels({ connectionString: database.url }),
        tails: new InMemoryLogTails(),
        attempts: new InMemoryAttempts(),
        machineApi: new MachineApiLocation('https://127.0.0.1:8443', []),
        webhooks: new WebhookAccess(
          openWebhooks({ connectionString: database.url, applicationName: 'test' }),
          new WebhookSecrets({ key: null, problem: 'there is none' }),
          { resolver: new SystemResolver(), allowed: [] },
        ),
        readiness: [],
      }),
    );
    try {
      const others = routesOf(app).filter(({ action }) => action && !kindsFor(action).includes('nobody'));
      expect(others.length).toBeGreaterThan(9);
      for (const { method, path } of others)
        for (const bearer of [undefined, makeSecret('rcm'), makeSecret('rca'), makeSecret('rco')]) {
          const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
          const answer = await app.inject({ method: method as 'GET', url: path, headers });
          expect([path, answer.statusCode]).toEqual([path, 401]);
        }
    } finally {
      await app.close();
    }
  });
});
