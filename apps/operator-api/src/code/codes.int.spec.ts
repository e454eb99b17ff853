import { code, codeStream } from '@rollcall/admission';
import { PinnedClient } from '@rollcall/pinned-https';
import { machine, machineStream } from '@rollcall/machine';
import { hashOf, type SignInAnswer } from '@rollcall/wire';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { startOperatorPlane, type OperatorPlane } from '../../../../test/support/operator-plane.js';

jest.setTimeout(60_000);

let plane: OperatorPlane;
let client: PinnedClient;
beforeAll(async () => {
  plane = await startOperatorPlane();
  client = new PinnedClient({ origin: plane.api.url, pins: plane.api.pins });
});
afterAll(async () => {
  client.abandonConnections();
  await plane.close();
});

type Told = {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: Record<string, unknown>;
};

const post = async (path: string, body: object, session?: string): Promise<Told> => {
  const answer = await client.request({
    method: 'POST',
    path,
    headers: {
      'content-type': 'application/json',
      ...(session === undefined ? {} : { authorization: `Bearer ${session}` }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  return {
    status: answer.status,
    retryAfter: answer.header('retry-after')[0],
    body: JSON.parse(answer.body) as Record<string, unknown>,
  };
};

/** A session of its own, so that no test types wrong codes for another. */
const newSession = async (): Promise<string> => {
  const link = await plane.link();
  const secret = new URL(link).hash.slice(1).split('.')[0] ?? '';
  return ((await post('/v1/sessions', { link: secret })).body as unknown as SignInAnswer).session;
};

let drawn = 0;
/** An installation that shows a code. */
const waiting = async (hostname: string | null = 'forge'): Promise<string> => {
  drawn += 1;
  const userCode = `BCDF-GHJ${'BCDFGHJKLMNP'.charAt(drawn)}`;
  await plane.store.decide(
    code,
    { stream: codeStream(randomUUID()) },
    {
      type: 'RequestCode',
      userCodeHash: hashOf(userCode),
      deviceCodeHash: hashOf(randomUUID()),
      identifierHash: hashOf(randomUUID()),
      keyHash: hashOf(randomUUID()),
      report: { hostname, agentVersion: null, platform: 'linux', arch: null },
    },
    { actor: { kind: 'plane', id: 'test' } },
  );
  return userCode;
};

it('tells a person who typed a code what claims to be behind it, and takes one answer (O12)', async () => {
  const session = await newSession();
  const shown = await waiting('forge');
  const found = await post('/v1/codes/look-up', { code: shown.toLowerCase().replace('-', '') }, session);
  expect(found).toMatchObject({ status: 200, body: { code: shown, claims: { hostname: 'forge', platform: 'linux' } } });
  const approval = { commandId: randomUUID(), code: shown, name: 'build-box' };
  expect(await post('/v1/codes/approve', approval, session)).toMatchObject({
    status: 200,
    body: { code: shown, answer: 'approved', replaces: null },
  });
  expect((await post('/v1/codes/approve', approval, session)).status).toBe(200);
  const after = await post('/v1/codes/look-up', { code: shown }, session);
  expect(after.body['code']).toBe('code-refused');
  // Until it is picked up, whoever has approved it may think better of it.
  for (let time = 0; time < 2; time += 1) {
    const refusal = await post('/v1/codes/refuse', { commandId: randomUUID(), code: shown }, session);
    expect(refusal.body).toEqual({ code: shown, answer: 'refused', replaces: null });
  }
  expect((await post('/v1/codes/approve', { ...approval, commandId: randomUUID() }, session)).status).toBe(400);
});

it('makes the installation the next machine of a node, and deletes the one that the node has, both or neither (N19)', async () => {
  const session = await newSession();
  const before = await plane.join({ name: 'lathe' });
  const approve = (shown: string) =>
    post('/v1/codes/approve', { commandId: randomUUID(), code: shown, node: before.id }, session);
  const isDeleted = async () =>
    (await plane.store.view(machine, { stream: machineStream(before.id) }))?.state.enrolment?.deleted;
  const refused = await waiting();
  await post('/v1/codes/refuse', { commandId: randomUUID(), code: refused }, session);
  expect([(await approve(refused)).body['code'], await isDeleted()]).toEqual(['code-refused', false]);
  const shown = await waiting();
  expect((await approve(shown)).body).toEqual({ code: shown, answer: 'approved', replaces: before.id });
  expect(await isDeleted()).toBe(true);
  const [approval] = (await plane.store.readBatches((await plane.store.newest()).number - 1n, 1))[0]?.facts ?? [];
  expect(approval).toMatchObject({
    event: { type: 'CodeApproved', node: expect.any(String), session: expect.any(String) },
  });
});

it('shows one face for a code that is over and one that never was, also where the machine to replace is not there (O12)', async () => {
  const session = await newSession();
  const refused = await waiting();
  await post('/v1/codes/refuse', { commandId: randomUUID(), code: refused }, session);
  const told: unknown[] = [];
  for (const code of [refused, 'ZZZZ-ZZZZ']) {
    const { status, body } = await post(
      '/v1/codes/approve',
      { commandId: randomUUID(), code, node: 'nobody' },
      session,
    );
    told.push([status, body['code']]);
  }
  expect(told[0]).toEqual(told[1]);
});

it('takes no answer for a repetition of the other: the id of a refusal approves nothing (O12)', async () => {
  const session = await newSession();
  const before = await plane.join({ name: 'drill' });
  const shown = await waiting();
  const refusal = { commandId: randomUUID(), code: shown };
  await post('/v1/codes/refuse', refusal, session);
  const approvals = [
    await post('/v1/codes/approve', refusal, session),
    await post('/v1/codes/approve', { ...refusal, node: before.id }, session),
  ];
  expect(approvals.map(({ body }) => body['code'])).toEqual(['code-refused', 'code-refused']);
  const other = { commandId: randomUUID(), code: await waiting() };
  expect((await post('/v1/codes/approve', other, session)).status).toBe(200);
  expect((await post('/v1/codes/refuse', other, session)).body['code']).toBe('code-refused');
});

it('records who refused one (O12)', async () => {
  const session = await newSession();
  const shown = await waiting();
  const refusal = { commandId: randomUUID(), code: shown };
  expect((await post('/v1/codes/refuse', refusal, session)).body).toEqual({
    code: shown,
    answer: 'refused',
    replaces: null,
  });
  const batches = await plane.store.readBatches((await plane.store.newest()).number - 1n, 1);
  expect(batches[0]?.facts[0]).toMatchObject({
    actor: { kind: 'person', id: plane.personId },
    event: { type: 'CodeRefused' },
  });
});

it('looks at five wrong codes of a session in a minute and then at none, right or wrong; another session is not held up (C08)', async () => {
  const session = await newSession();
  const shown = await waiting();
  const told: Told[] = [];
  for (let typed = 0; typed < 30; typed += 1)
    told.push(await post('/v1/codes/look-up', { code: 'ZZZZ-ZZZZ' }, session));
  const codes = told.map(({ body }) => body['code']);
  expect(codes).toEqual([...Array<string>(5).fill('code-refused'), ...Array<string>(25).fill('too-many-wrong-codes')]);
  const right = await post('/v1/codes/look-up', { code: shown }, session);
  expect(right).toMatchObject({ status: 429, body: { code: 'too-many-wrong-codes' } });
  expect(Number(right.retryAfter)).toBeGreaterThan(30);
  expect((await post('/v1/codes/look-up', { code: shown }, await newSession())).status).toBe(200);
});

it('lets nobody answer a code without a session (O3, O12)', async () => {
  const shown = await waiting();
  for (const verb of ['look-up', 'approve', 'refuse'])
    expect((await post(`/v1/codes/${verb}`, { commandId: randomUUID(), code: shown })).body['code']).toBe(
      'not-signed-in',
    );
});
