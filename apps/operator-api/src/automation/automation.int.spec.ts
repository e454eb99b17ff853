import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { ACTIONS, kindsFor, SCOPES, type Scope } from '@rollcall/authorisation';
import { PinnedClient } from '@rollcall/pinned-https';
import {
  decodeSignInLink,
  hashOf,
  makeSecret,
  type AutomationTokenAnswer,
  type AutomationTokenList,
  type MachineList,
  type Problem,
  type SignInAnswer,
} from '@rollcall/wire';
import { startOperatorPlane, type OperatorPlane } from '../../../../test/support/operator-plane.js';
import { routes } from '../openapi.js';

jest.setTimeout(60_000);

let directory: string;
let plane: OperatorPlane;
let client: PinnedClient;
let session: string;

beforeAll(async () => {
  plane = await startOperatorPlane(undefined, {
    ROLLCALL_WEBHOOK_KEY_FILE: await webhookKey(),
    ROLLCALL_WEBHOOK_ALLOW: '127.0.0.1:9',
  });
  client = new PinnedClient({ origin: plane.api.url, pins: plane.api.pins });
  session = await signIn();
});
afterAll(() => Promise.all([plane.close(), rm(directory, { recursive: true })]));

const webhookKey = async (): Promise<string> => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-automation-'));
  const file = join(directory, 'webhook.key');
  await writeFile(file, randomBytes(32).toString('base64url'), { mode: 0o600 });
  return file;
};

type Answer<Body> = { readonly status: number; readonly body: Body };

const ask = async <Body = Problem>(
  method: string,
  path: string,
  bearer: string,
  body?: unknown,
): Promise<Answer<Body>> => {
  const answer = await client.request({
    method: method as 'GET',
    path,
    headers: {
      ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: answer.status,
    body: (answer.mediaType.includes('json') ? JSON.parse(answer.body) : answer.body) as Body,
  };
};

const signIn = async (personId?: string): Promise<string> => {
  const { secret } = decodeSignInLink(await plane.link(personId));
  return (await ask<SignInAnswer>('POST', '/v1/sessions', '', { link: secret })).body.session;
};

/** Issues a token as the CLI does. */
const issue = async (scopes: readonly Scope[], bearer = session) => {
  const secret = makeSecret('rca');
  const request = { commandId: randomUUID(), tokenHash: hashOf(secret), name: 'grafana', scopes, expiresIn: 3_600 };
  const answer = await ask<AutomationTokenAnswer>('POST', '/v1/automation-tokens', bearer, request);
  expect(answer.status).toBe(201);
  return { secret, request, token: answer.body.token };
};

it('answers a token with every scope like a stranger, on each route that no scope is for (O3)', async () => {
  const { secret } = await issue(SCOPES);
  const closed = (await routes()).filter(
    ({ action }) => action && !ACTIONS[action].automation && !ACTIONS[action].nobody,
  );
  expect(closed.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['issue-token', 'delete-machine', 'issue-automation-token', 'rename-machine']),
  );
  for (const { method, path } of closed) {
    const stranger = await ask(method, path, '');
    const { status, body } = await ask(method, path, secret);
    expect([path, status, body.code]).toEqual([path, 401, 'not-signed-in']);
    expect({ ...body, requestId: '' }).toEqual({ ...stranger.body, requestId: '' });
  }
});

it('opens to a token what its scopes say, and names nothing of what is missing but that it is (O3)', async () => {
  const open = (await routes()).filter(({ action }) => action && kindsFor(action).includes('automation'));
  for (const scope of SCOPES) {
    const { secret } = await issue([scope]);
    for (const { method, path, action } of open) {
      // A stream would not end by itself.
      if (action === 'follow-presence') continue;
      const { status, body } = await ask(method, path, secret, method === 'GET' ? undefined : {});
      const isFor = action !== null && ACTIONS[action].automation === scope;
      expect([path, scope, body.code === 'scope-missing']).toEqual([path, scope, !isFor]);
      if (!isFor) expect(status).toBe(403);
      expect(body.code).not.toBe('not-signed-in');
    }
  }
});

it('shows a token the machines of the person who issued it, and records what it does as its own', async () => {
  const other = await plane.anotherPerson('Bob');
  const [own, theirs] = [await plane.join({ name: 'own' }), await plane.join({ name: 'theirs', owner: other })];
  await Promise.all([own.check(), theirs.check()]);
  await plane.caughtUp();
  const { secret, token } = await issue(['presence:read', 'webhooks:manage']);
  const { body } = await ask<MachineList>('GET', '/v1/machines', secret);
  expect(body.machines.map(({ name }) => name)).toEqual(['own']);
  expect((await ask('GET', `/v1/machines/${theirs.id}`, secret)).status).toBe(404);

  const webhook = randomUUID();
  const wanted = { commandId: webhook, url: 'http://127.0.0.1:9/hook', events: ['machine.absent'] };
  expect((await ask('POST', '/v1/webhooks', secret, wanted)).status).toBe(201);
  expect(await plane.store.readStream(`webhook-${webhook}`)).toMatchObject([
    { actor: { kind: 'automation', id: token.id }, event: { type: 'WebhookEndpointAdded', owner: plane.personId } },
  ]);
});

it('lists tokens without their hashes, and revokes one at once, on every instance (U9)', async () => {
  const { secret, request, token } = await issue(['presence:read']);
  expect((await ask<AutomationTokenAnswer>('POST', '/v1/automation-tokens', session, request)).body.token).toEqual(
    token,
  );
  const listed = await ask<AutomationTokenList>('GET', '/v1/automation-tokens', session);
  expect(listed.body.tokens).toContainEqual(token);
  expect(JSON.stringify(listed.body)).not.toContain(hashOf(secret));

  const bob = await signIn(await plane.anotherPerson('Bob'));
  const revoke = (bearer: string) =>
    ask('DELETE', `/v1/automation-tokens/${token.id}`, bearer, { commandId: randomUUID() });
  expect((await revoke(bob)).body.code).toBe('automation-token-not-found');
  expect((await ask('GET', '/v1/machines', secret)).status).toBe(200);
  expect((await revoke(session)).status).toBe(204);
  expect((await ask('GET', '/v1/machines', secret)).body.code).toBe('not-signed-in');
  // Its secret stays its owner's, so nobody else can register it.
  const again = { ...request, commandId: randomUUID() };
  expect((await ask('POST', '/v1/automation-tokens', bob, again)).body.code).toBe('invalid-body');
});
