import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { FORM_MEDIA_TYPE } from '@rollcall/nest-platform';
import { PinnedClient } from '@rollcall/pinned-https';
import {
  decodeSignInLink,
  DEVICE_CODE_GRANT,
  hashOf,
  makeSecret,
  type DeviceAuthorizationAnswer,
  type MeAnswer,
  type SessionList,
  type SignInAnswer,
  type TokenAnswer,
} from '@rollcall/wire';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { startOperatorPlane, type OperatorPlane } from '../../../../test/support/operator-plane.js';

jest.setTimeout(60_000);

let plane: OperatorPlane;
/** Each request goes to the next instance in turn (U9). */
let clients: readonly PinnedClient[];
let asked = 0;
beforeAll(async () => {
  plane = await startOperatorPlane();
  const instances = [plane.api, await plane.another()];
  clients = instances.map(({ url, pins }) => new PinnedClient({ origin: url, pins }));
});
afterAll(async () => {
  for (const client of clients) client.abandonConnections();
  await plane.close();
});

type Told<Body> = {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly body: Body;
};

const ask = async <Body>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { body, session }: { readonly body?: object | string; readonly session?: string } = {},
): Promise<Told<Body>> => {
  const client = clients[(asked += 1) % clients.length]!;
  const answer = await client.request({
    method,
    path,
    headers: {
      ...(body === undefined
        ? {}
        : { 'content-type': typeof body === 'string' ? FORM_MEDIA_TYPE : 'application/json' }),
      ...(session === undefined ? {} : { authorization: `Bearer ${session}` }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  return {
    status: answer.status,
    header: (name) => answer.header(name)[0],
    body: (answer.body === '' ? undefined : JSON.parse(answer.body)) as Body,
  };
};

const signedIn = async (person?: string): Promise<string> => {
  const { secret } = decodeSignInLink(await plane.link(person));
  return (await ask<SignInAnswer>('POST', '/v1/sessions', { body: { link: secret } })).body.session;
};
const begin = async (device = 'desk'): Promise<DeviceAuthorizationAnswer> => {
  const form = new URLSearchParams({ client_id: 'rollcall', device_name: device });
  return (await ask<DeviceAuthorizationAnswer>('POST', '/v1/device-authorization', { body: form.toString() })).body;
};
const poll = (device_code: string) =>
  ask<TokenAnswer & { error?: string }>('POST', '/v1/token', {
    body: new URLSearchParams({ grant_type: DEVICE_CODE_GRANT, client_id: 'rollcall', device_code }).toString(),
  });
const answer = (how: 'approve' | 'refuse' | 'look-up', code: string, session: string) =>
  ask<{ code: string }>('POST', `/v1/logins/${how}`, {
    session,
    body: { code, ...(how === 'look-up' ? {} : { commandId: randomUUID() }) },
  });
const sql = async (statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: plane.ownerUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
};
/** Lets the time pass that a program has to wait between two questions. */
const waited = () => sql("update attempt set memory = jsonb_set(memory, '{asked}', '0') where key like 'login:%'");

it('signs a program in that a person approved by its code, on whichever instances, and records whose word it was (U9)', async () => {
  const session = await signedIn();
  const { user_code, device_code, verification_uri, expires_in, interval } = await begin('Ada’s desk');
  expect(verification_uri).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/device$/);
  expect([expires_in, interval]).toEqual([600, 5]);
  const pending = await poll(device_code);
  expect([pending.status, pending.body.error]).toEqual([400, 'authorization_pending']);
  expect(pending.header('content-type')).toMatch(/^application\/json/);
  expect(pending.header('cache-control')).toBe('no-store');
  const shown = await answer('look-up', user_code.toLowerCase().replace('-', ' '), session);
  expect(shown.body).toMatchObject({ code: user_code, claims: { client: 'rollcall', device: 'Ada’s desk' } });
  expect((await answer('approve', user_code, session)).body).toEqual({ code: user_code, answer: 'approved' });
  const { status, body } = await poll(device_code);
  expect([status, body]).toMatchObject([200, { token_type: 'Bearer', person: { id: plane.personId, name: 'Ada' } }]);
  expect(body.expires_in).toBeGreaterThan(43_000);
  const me = await ask<MeAnswer>('GET', '/v1/me', { session: body.access_token });
  expect(me.body).toEqual({ person: body.person, expiresAt: body.expires_at });

  const batches = await plane.store.readBatches((await plane.store.newest()).number - 2n, 2);
  const facts = batches.flatMap(({ facts }) => facts.flatMap((fact) => (fact.kind === 'event' ? [fact] : [])));
  expect(facts.map(({ event, actor }) => [event.type, actor])).toEqual([
    ['LoginApproved', { kind: 'person', id: plane.personId }],
    ['LoginPickedUp', { kind: 'person', id: plane.personId }],
    ['SessionStarted', { kind: 'person', id: plane.personId }],
  ]);
  for (const { body: recorded } of facts)
    for (const secret of [user_code, device_code, body.access_token]) expect(recorded).not.toContain(secret);
});

it('shows a person where they are signed in, and ends any of it on all instances at once', async () => {
  const session = await signedIn();
  const { user_code, device_code } = await begin('the desk');
  await answer('approve', user_code, session);
  const { access_token } = (await poll(device_code)).body;
  const shown = (await ask<SessionList>('GET', '/v1/sessions', { session })).body.sessions;
  const program = shown.find(({ device }) => device === 'the desk');
  expect(program).toMatchObject({ by: 'code', current: false });
  expect(shown.filter(({ current }) => current)).toMatchObject([{ by: 'link', device: null }]);
  const end = () => ask<{ code: string }>('DELETE', `/v1/sessions/${program?.id}`, { session });
  expect((await end()).status).toBe(204);
  const uses = [1, 2].map(() => ask('GET', '/v1/me', { session: access_token }));
  expect((await Promise.all(uses)).map(({ status }) => status)).toEqual([401, 401]);
  expect((await end()).body.code).toBe('session-not-found');
});

it('lets a right link in however many wrong ones others try, which are told to slow down on all instances (C08)', async () => {
  await sql(`insert into attempt (key, memory) values ('wrong-links', to_jsonb(extract(epoch from now()) * 1000 + 600000))
    on conflict (key) do update set memory = excluded.memory, times = attempt.times + 1`);
  const wrong = await ask<{ code: string }>('POST', '/v1/sessions', { body: { link: makeSecret('rcl') } });
  expect([wrong.status, wrong.body.code]).toEqual([429, 'slow-down']);
  expect(Number(wrong.header('retry-after'))).toBeGreaterThan(60);
  expect(await signedIn()).toMatch(/^rco_/);
});

it('answers one of many questions with the session; used, expired and unknown device codes look the same', async () => {
  const session = await signedIn();
  const { user_code, device_code } = await begin();
  await answer('approve', user_code, session);
  const answers = await Promise.all(Array.from({ length: 10 }, () => poll(device_code)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  const others = [
    ...answers.filter(({ status }) => status !== 200),
    await poll(makeSecret('rcd')),
    await poll('no code'),
  ];
  for (const { status, body } of others)
    expect([status, body]).toEqual([400, { error: 'expired_token', error_description: expect.any(String) }]);
});

it('tells a program that a person refused it, and one that asks too soon to slow down, whichever instance it asks', async () => {
  const session = await signedIn();
  const { user_code, device_code } = await begin();
  expect((await poll(device_code)).body.error).toBe('authorization_pending');
  const [first, second] = [await poll(device_code), await poll(device_code)];
  expect([first.status, first.body.error, second.body.error]).toEqual([400, 'slow_down', 'slow_down']);
  await waited();
  expect((await poll(device_code)).body.error).toBe('authorization_pending');
  await answer('refuse', user_code, session);
  expect((await poll(device_code)).body.error).toBe('access_denied');
});

it('is no fresher than the session in which it was approved, and approved only in a fresh one (O3)', async () => {
  const session = await signedIn();
  const { user_code, device_code } = await begin();
  await answer('approve', user_code, session);
  const { access_token } = (await poll(device_code)).body;
  const started = (await plane.store.readStream(`person-${plane.personId}`)).flatMap((fact) =>
    fact.kind === 'event' && fact.event.type === 'SessionStarted' ? [fact.event] : [],
  );
  const by = (secret: string) => started.find(({ sessionHash }) => sessionHash === hashOf(secret))?.['authenticatedAt'];
  expect(by(access_token)).toBe(by(session));
  expect(by(session)).toEqual(expect.any(String));
});

it('shows one face for codes that are unknown, used, refused or those of an installation, and limits wrong ones on all instances together (C08)', async () => {
  const session = await signedIn();
  const [used, refused] = [await begin(), await begin()];
  await answer('approve', used.user_code, session);
  await answer('refuse', refused.user_code, session);
  const told = [];
  for (const code of [used.user_code, refused.user_code, 'ZZZZ-ZZZZ', 'not a code'])
    told.push(await answer('look-up', code, session));
  expect(told.map(({ status, body }) => [status, body.code])).toEqual(told.map(() => [400, 'code-refused']));
  const many = await Promise.all(Array.from({ length: 6 }, () => answer('look-up', 'ZZZZ-ZZZZ', session)));
  expect(many.filter(({ status }) => status === 400)).toHaveLength(1);
  const locked = await answer('look-up', (await begin()).user_code, session);
  expect([locked.status, Number(locked.header('retry-after')) > 30]).toEqual([429, true]);
});

it('takes no answer for a repetition of the other: the id of a refusal approves nothing', async () => {
  const session = await signedIn();
  const say = async (how: 'approve' | 'refuse', body: object) =>
    (await ask<{ code: string }>('POST', `/v1/logins/${how}`, { session, body })).body.code;
  const refusal = { commandId: randomUUID(), code: (await begin()).user_code };
  expect([await say('refuse', refusal), await say('approve', refusal)]).toEqual([refusal.code, 'code-refused']);
  const { user_code, device_code } = await begin();
  const approval = { commandId: randomUUID(), code: user_code };
  expect([await say('approve', approval), await say('refuse', approval)]).toEqual([user_code, 'code-refused']);
  // A lost answer is told again, also once the program has its session.
  expect((await poll(device_code)).status).toBe(200);
  expect(await say('approve', approval)).toBe(user_code);
});

it('takes JSON as well, and says in the words of OAuth what is wrong with a question', async () => {
  const json = await ask<DeviceAuthorizationAnswer>('POST', '/v1/device-authorization', { body: { client_id: 'a' } });
  expect(json.status).toBe(200);
  const wrong = async (path: string, body: object | string) => {
    const told = await ask<{ error: string }>('POST', path, { body });
    return [told.status, told.body.error];
  };
  expect(await wrong('/v1/device-authorization', '')).toEqual([400, 'invalid_request']);
  expect(await wrong('/v1/token', 'grant_type=password&device_code=x&client_id=y')).toEqual([
    400,
    'unsupported_grant_type',
  ]);
  expect(await wrong('/v1/token', `grant_type=${DEVICE_CODE_GRANT}`)).toEqual([400, 'invalid_request']);
  expect((await ask('POST', '/v1/sessions', { body: 'link=x' })).status).toBe(415);
});

it('begins no more logins at once than all instances together may, and says when to come again', async () => {
  await sql(`insert into attempt (key, memory) values ('logins', to_jsonb(extract(epoch from now()) * 1000 + 600000))
    on conflict (key) do update set memory = excluded.memory, times = attempt.times + 1`);
  for (let instance = 0; instance < clients.length; instance += 1) {
    const late = await ask<{ error: string }>('POST', '/v1/device-authorization', { body: { client_id: 'a' } });
    expect([late.status, late.body.error]).toEqual([429, 'temporarily_unavailable']);
    expect(Number(late.header('retry-after'))).toBeGreaterThan(60);
  }
});
