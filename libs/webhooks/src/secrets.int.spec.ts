import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import {
  ensureWebhookKey,
  NotUnsealed,
  openWebhooks,
  readWebhookKey,
  WebhookQueue,
  WebhookKeyMissing,
  WebhookSecrets,
  type WebhookDatabase,
} from './index.js';
import { signatureHeaders } from './signature.js';

let directory: string;
let fresh: FreshDatabase;
let database: WebhookDatabase;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-webhooks-'));
  fresh = await freshDatabase();
  database = openWebhooks({ connectionString: fresh.url, applicationName: 'rollcall test' });
});
afterAll(async () => {
  await database.destroy();
  await fresh.drop();
  await rm(directory, { recursive: true });
});

const withKey = async (name: string) => {
  const path = join(directory, name);
  await ensureWebhookKey(path);
  return new WebhookSecrets(await readWebhookKey(path));
};

const verify = (secret: string, secrets: readonly string[]) => {
  const body = JSON.stringify({ type: 'webhook.test', name: 'ä' });
  const signed = { id: randomUUID(), timestamp: Math.floor(Date.now() / 1_000), body };
  return new Webhook(secret).verify(body, signatureHeaders(signed, secrets));
};

it('shows a secret once and seals it with the address; a rolled one signs beside the new one for a day (U5)', async () => {
  const secrets = await withKey('key');
  const [endpoint, url] = [randomUUID(), 'https://hooks.example/in?key=hunter2'];
  const first = await secrets.create(database, endpoint, url);
  expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(await secrets.open(database, endpoint)).toEqual({ url, secrets: [first] });
  const second = await secrets.roll(database, endpoint);
  const opened = await secrets.open(database, endpoint);
  expect(opened).toEqual({ url, secrets: [second, first] });
  for (const secret of [first, second]) expect(verify(secret, opened!.secrets)).toMatchObject({ type: 'webhook.test' });
  expect(() => verify(first, [second])).toThrow('No matching signature');
  await database
    .updateTable('webhook_sealed')
    .set({ valid_until: new Date() })
    .where('valid_until', 'is not', null)
    .execute();
  expect(await secrets.open(database, endpoint)).toEqual({ url, secrets: [second] });
  await secrets.roll(database, endpoint);
  const rows = await database.selectFrom('webhook_sealed').select('sealed').where('endpoint', '=', endpoint).execute();
  expect(rows).toHaveLength(3);
  expect(rows.map(({ sealed }) => sealed.toString('latin1')).join()).not.toMatch(/hunter2|whsec/);
});

it('signs with the newest and with three that it has replaced, however often a secret is rolled (U5)', async () => {
  const secrets = await withKey('key');
  const endpoint = randomUUID();
  const made = [await secrets.create(database, endpoint, 'https://hooks.example/')];
  for (let times = 0; times < 6; times += 1) made.unshift(await secrets.roll(database, endpoint));
  expect((await secrets.open(database, endpoint))?.secrets).toEqual(made.slice(0, 4));
});

it('opens nothing with another key, and has nothing to open once the endpoint is removed', async () => {
  const secrets = await withKey('key');
  const endpoint = randomUUID();
  await secrets.create(database, endpoint, 'https://hooks.example/');
  await expect((await withKey('other')).open(database, endpoint)).rejects.toThrow(NotUnsealed);
  const queue = await WebhookQueue.open({
    connectionString: fresh.url,
    applicationName: 'rollcall test',
    looksAfter: false,
  });
  await database.transaction().execute((transaction) => queue.remove(transaction, endpoint));
  await queue.close();
  expect(await secrets.open(database, endpoint)).toBeNull();
});

it('says what to do where there is no key, and does not fail before it is needed (U5)', async () => {
  const missing = join(directory, 'missing');
  const short = join(directory, 'short');
  const open = join(directory, 'open');
  await writeFile(short, 'c2hvcnQ', { mode: 0o600 });
  await writeFile(open, ''.padEnd(43, 'A'), { mode: 0o600 });
  await chmod(open, 0o644);
  const problems = await Promise.all(
    [null, missing, short, open].map(async (path) => (await readWebhookKey(path)).problem),
  );
  expect(problems).toEqual([
    'Webhooks wait: ROLLCALL_WEBHOOK_KEY_FILE is not set.',
    expect.stringMatching(/no key at .*missing. Make one with: openssl/),
    expect.stringContaining('has not 32 bytes'),
    expect.stringMatching(/^Webhooks wait: .*open/),
  ]);
  const secrets = new WebhookSecrets(await readWebhookKey(null));
  await expect(secrets.create(database, randomUUID(), 'https://hooks.example/')).rejects.toThrow(WebhookKeyMissing);
  await expect(secrets.open(database, randomUUID())).rejects.toThrow('ROLLCALL_WEBHOOK_KEY_FILE');
});
