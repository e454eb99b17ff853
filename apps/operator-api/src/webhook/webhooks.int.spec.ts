import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { webhookStream } from '@rollcall/webhook-endpoint';
import type {
  AddWebhookAnswer,
  Problem,
  RollWebhookSecretAnswer,
  WebhookAnswer,
  WebhookDeliveryList,
  WebhookList,
} from '@rollcall/wire';
import { startOperatorPlane, type OperatorPlane } from '../../../../test/support/operator-plane.js';
import { askAs, type Ask } from '../../../../test/support/signed-in.js';

jest.setTimeout(60_000);

let directory: string;
let plane: OperatorPlane;
let ask: Ask;
/** As another person. */
let askEve: Ask;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-webhooks-'));
  const keyFile = join(directory, 'webhook.key');
  await writeFile(keyFile, randomBytes(32).toString('base64url'), { mode: 0o600 });
  // An address that no name server is asked about, and that nobody has.
  plane = await startOperatorPlane(undefined, {
    ROLLCALL_WEBHOOK_KEY_FILE: keyFile,
    ROLLCALL_WEBHOOK_ALLOW: '10.99.0.0/16:9443',
  });
  ask = await askAs(plane);
  askEve = await askAs(plane, await plane.anotherPerson('Eve'));
});
afterAll(async () => {
  await plane.close();
  await rm(directory, { recursive: true });
});

const URL_OF_HOOK = 'https://10.99.0.1:9443/hooks/with-a-key-of-theirs';
const wanted = (over: object = {}) => ({
  commandId: randomUUID(),
  url: URL_OF_HOOK,
  events: ['machine.absent', 'machine.admitted'],
  ...over,
});
const add = async (over: object = {}): Promise<AddWebhookAnswer> =>
  (await ask<AddWebhookAnswer>('POST', '/v1/webhooks', wanted(over))).body;
const commanded = () => ({ commandId: randomUUID() });
const eventsOf = async (id: string) =>
  (await plane.store.readStream(webhookStream(id))).map((fact) =>
    fact.kind === 'event' ? { ...fact.event, by: fact.actor.id } : fact,
  );
const listed = async (id: string) => {
  await plane.caughtUp();
  const { body } = await ask<WebhookList>('GET', '/v1/webhooks');
  return body.webhooks.find((webhook) => webhook.id === id);
};

describe('adding one', () => {
  it('answers the secret once, and shows and records nothing of the address but its host (U5)', async () => {
    const request = wanted();
    const { status, body } = await ask<AddWebhookAnswer>('POST', '/v1/webhooks', request);
    expect(status).toBe(201);
    expect(body).toEqual({
      webhook: {
        id: request.commandId,
        host: '10.99.0.1:9443',
        events: ['machine.absent', 'machine.admitted'],
        promisedOnly: false,
      },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    expect(await listed(body.webhook.id)).toMatchObject({ ...body.webhook, paused: null, failures: 0, waiting: 0 });
    const seen = JSON.stringify([await eventsOf(body.webhook.id), await listed(body.webhook.id)]);
    expect(seen).toContain('10.99.0.1:9443');
    expect(seen).not.toContain('theirs');
    expect(seen).not.toContain(body.secret);
  });

  it('answers a repetition with another secret that is valid, and says so in the record (U5)', async () => {
    const request = wanted({ promisedOnly: true });
    const first = await ask<AddWebhookAnswer>('POST', '/v1/webhooks', request);
    const again = await ask<AddWebhookAnswer>('POST', '/v1/webhooks', request);
    expect(again).toMatchObject({ status: 201, body: { webhook: first.body.webhook } });
    expect(again.body.secret).not.toBe(first.body.secret);
    expect((await eventsOf(request.commandId)).map((event) => 'type' in event && event.type)).toEqual([
      'WebhookEndpointAdded',
      'WebhookSecretRolled',
    ]);
    expect(await plane.secretsOf(request.commandId)).toEqual([again.body.secret, first.body.secret]);
  });

  it('has no secret that nobody knows when the plane went away between sealing and recording (U5)', async () => {
    const request = wanted();
    await plane.sealOnly(request.commandId, 'https://10.99.0.1:9443/older');
    const { body } = await ask<AddWebhookAnswer>('POST', '/v1/webhooks', request);
    expect(await plane.secretsOf(request.commandId)).toEqual([body.secret]);
  });

  it('goes by its id in lower case, however that was written (U5)', async () => {
    const id = randomUUID();
    const { body } = await ask<AddWebhookAnswer>('POST', '/v1/webhooks', wanted({ commandId: id.toUpperCase() }));
    expect(body.webhook.id).toBe(id);
    expect(await listed(id)).toMatchObject({ id });
  });

  it.each([
    ['another address', { url: 'https://10.99.0.1:9443/elsewhere' }],
    ['other events', { events: ['machine.deleted'] }],
    ['another way', { promisedOnly: true }],
  ])('refuses a command id that was used for %s', async (_, over) => {
    const request = wanted();
    await ask('POST', '/v1/webhooks', request);
    expect(await ask<Problem>('POST', '/v1/webhooks', { ...request, ...over })).toMatchObject({
      status: 422,
      body: { code: 'invalid-body', errors: [{ field: 'commandId' }] },
    });
    expect(await askEve<Problem>('POST', '/v1/webhooks', request)).toMatchObject({ status: 422 });
    expect(await plane.secretsOf(request.commandId)).toHaveLength(1);
  });

  it.each([
    ['inside', 'https://127.0.0.1/', 'address-not-allowed'],
    ['inside by another spelling', 'https://0x7f.1/', 'address-not-allowed'],
    ['in clear text', 'http://192.0.2.7/', 'not-encrypted'],
    ['with a password', 'https://ada:secret@10.99.0.1:9443/', 'has-credentials'],
    ['nowhere', 'over there', 'not-a-url'],
  ])('refuses an address that is %s, and keeps nothing of it (C26)', async (_, url, reason) => {
    const request = wanted({ url });
    expect(await ask<Problem>('POST', '/v1/webhooks', request)).toMatchObject({
      status: 422,
      body: { code: 'webhook-target-refused', reason },
    });
    expect(await plane.secretsOf(request.commandId)).toEqual([]);
    expect(await eventsOf(request.commandId)).toEqual([]);
  });

  it.each([{ events: [] }, { events: ['machine.sang'] }, { events: undefined }, { url: '' }, { secret: 'mine' }])(
    'refuses %j',
    async (over) =>
      expect(await ask<Problem>('POST', '/v1/webhooks', wanted(over))).toMatchObject({
        status: 422,
        body: { code: 'invalid-body' },
      }),
  );

  it('is refused while the plane has no key, which the list says, too (U5)', async () => {
    const keyless = await plane.another({ ROLLCALL_WEBHOOK_KEY_FILE: '' });
    const asked = await askAs({ ...plane, api: keyless });
    expect(await asked<Problem>('POST', '/v1/webhooks', wanted())).toMatchObject({
      status: 503,
      body: { code: 'webhook-key-missing' },
    });
    const { problem } = (await asked<WebhookList>('GET', '/v1/webhooks')).body;
    expect(problem).toBe('Webhooks wait: ROLLCALL_WEBHOOK_KEY_FILE is not set.');
    expect((await ask<WebhookList>('GET', '/v1/webhooks')).body.problem).toBeNull();
  });
});

describe('one that is there', () => {
  it('gets another secret whenever its owner asks, also by a repetition, and each is recorded (U5)', async () => {
    const { webhook, secret } = await add();
    const command = commanded();
    const roll = async () =>
      (await ask<RollWebhookSecretAnswer>('POST', `/v1/webhooks/${webhook.id}/secret`, command)).body.secret;
    const [second, third] = [await roll(), await roll()];
    expect(await plane.secretsOf(webhook.id)).toEqual([third, second, secret]);
    expect(await eventsOf(webhook.id)).toHaveLength(3);
  });

  it('is tested, paused, resumed and removed, each with its actor, and once per command (U5, U6)', async () => {
    const { webhook } = await add();
    const path = `/v1/webhooks/${webhook.id}`;
    for (const [verb, status, paused] of [
      ['test', 202, false],
      ['pause', 200, true],
      ['resume', 200, false],
    ] as const) {
      const command = commanded();
      const answers = [await ask('POST', `${path}/${verb}`, command), await ask('POST', `${path}/${verb}`, command)];
      expect(answers[0]).toEqual({ status, body: { webhook: { id: webhook.id, paused, removed: false } } });
      expect(answers[1]).toEqual(answers[0]);
    }
    await ask('POST', `${path}/pause`, commanded());
    expect(await listed(webhook.id)).toMatchObject({ paused: { reason: 'person' }, waiting: 1 });
    for (let time = 0; time < 2; time += 1)
      expect(await ask<WebhookAnswer>('DELETE', path, commanded())).toMatchObject({
        status: 200,
        body: { webhook: { removed: true } },
      });
    expect(await listed(webhook.id)).toBeUndefined();
    expect(await plane.secretsOf(webhook.id)).toEqual([]);
    expect(await ask<Problem>('POST', `${path}/test`, commanded())).toMatchObject({ status: 404 });
    const by = plane.personId;
    expect(await eventsOf(webhook.id)).toMatchObject([
      { type: 'WebhookEndpointAdded', by },
      { type: 'WebhookTestRequested', by },
      { type: 'WebhookEndpointPaused', by },
      { type: 'WebhookEndpointResumed', by },
      { type: 'WebhookEndpointPaused', by },
      { type: 'WebhookEndpointRemoved', by },
    ]);
  });

  it('shows its deliveries page by page, by state and type, and sends one again or refuses it (U5)', async () => {
    const { webhook } = await add({ events: ['machine.admitted'] });
    const path = `/v1/webhooks/${webhook.id}`;
    await ask('POST', `${path}/test`, commanded());
    const machines = [await plane.join(), await plane.join(), await plane.join()];
    await plane.join({ owner: 'somebody-else' });
    await plane.caughtUp();
    const deliveries = async (query = '') => (await ask<WebhookDeliveryList>('GET', `${path}/deliveries${query}`)).body;
    const all = await deliveries();
    expect(all.deliveries.map(({ type, machine, state, attempts }) => ({ type, machine, state, attempts }))).toEqual([
      ...machines
        .toReversed()
        .map(({ id }) => ({ type: 'machine.admitted', machine: id, state: 'waiting', attempts: 0 })),
      { type: 'webhook.test', machine: null, state: 'waiting', attempts: 0 },
    ]);
    const first = await deliveries('?limit=3');
    const second = await deliveries(`?limit=3&after=${first.next}`);
    expect([...first.deliveries, ...second.deliveries]).toEqual(all.deliveries);
    expect([second.next, (await deliveries('?type=webhook.test')).deliveries.length]).toEqual([null, 1]);
    expect((await deliveries('?state=failed')).deliveries).toEqual([]);
    expect(await ask('GET', `${path}/deliveries?state=lost`)).toMatchObject({ status: 422 });
    expect(await ask('GET', `${path}/deliveries?after=x`)).toMatchObject({ status: 422 });

    const replay = (wish: object) => ask<Problem>('POST', `${path}/replay`, { ...commanded(), ...wish });
    expect(await replay({ eventId: all.deliveries[0]!.id })).toMatchObject({ status: 202 });
    expect(await replay({ eventId: all.deliveries[0]!.id.toUpperCase() })).toMatchObject({ status: 202 });
    // Without an offset two clocks would read it differently, and a week is no time.
    for (const from of ['2026-01-01T00:00:00', '2026-W01'])
      expect(await replay({ from, to: '2026-01-02T00:00:00Z' })).toMatchObject({ status: 422 });
    expect(await replay({ from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' })).toMatchObject({ status: 202 });
    expect(await replay({ eventId: randomUUID() })).toMatchObject({
      status: 404,
      body: { code: 'webhook-delivery-not-found' },
    });
    for (const wish of [{}, { from: 'yesterday', to: '2026-01-02T00:00:00Z' }, { eventId: 'x' }, { types: ['all'] }])
      expect(await replay(wish)).toMatchObject({ status: 422, body: { code: 'invalid-body' } });
  });

  it('does not exist for anybody else (U1)', async () => {
    const { webhook } = await add();
    const path = `/v1/webhooks/${webhook.id}`;
    await plane.caughtUp();
    const refusals = await Promise.all([
      askEve('GET', `${path}/deliveries`),
      askEve('DELETE', path, commanded()),
      ...['test', 'secret', 'pause', 'resume'].map((verb) => askEve('POST', `${path}/${verb}`, commanded())),
      askEve('POST', `${path}/replay`, { ...commanded(), eventId: randomUUID() }),
      ask('POST', `/v1/webhooks/${randomUUID()}/test`, commanded()),
      ask('POST', '/v1/webhooks/no-id/test', commanded()),
    ]);
    for (const refusal of refusals) expect(refusal).toMatchObject({ status: 404, body: { code: 'webhook-not-found' } });
    expect((await askEve<WebhookList>('GET', '/v1/webhooks')).body.webhooks).toEqual([]);
    expect(await eventsOf(webhook.id)).toHaveLength(1);
  });
});
