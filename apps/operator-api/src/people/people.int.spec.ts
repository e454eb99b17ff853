import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { machine, machineStream } from '@rollcall/machine';
import { workspace as workspaceRules, workspaceStream } from '@rollcall/person';
import { PinnedClient } from '@rollcall/pinned-https';
import {
  hashOf,
  makeSecret,
  type PersonList,
  type Problem,
  type SignInAnswer,
  type WorkspaceView,
} from '@rollcall/wire';
import { startOperatorPlane, type OperatorPlane } from '../../../../test/support/operator-plane.js';
import { askAs, type Ask } from '../../../../test/support/signed-in.js';

jest.setTimeout(60_000);

let plane: OperatorPlane;
let first: Ask;
beforeAll(async () => {
  plane = await startOperatorPlane();
  first = await askAs(plane);
});
afterAll(() => plane.close());

const signIn = async (link: string) => {
  const client = new PinnedClient({ origin: plane.api.url, pins: plane.api.pins });
  const headers = { 'content-type': 'application/json' };
  const answer = await client.request({
    method: 'POST',
    path: '/v1/sessions',
    headers,
    body: JSON.stringify({ link }),
  });
  return { status: answer.status, body: JSON.parse(answer.body) as SignInAnswer };
};

it('lets somebody in whom the first person has added, with a link that works once', async () => {
  const link = makeSecret('rcl');
  const request = { commandId: randomUUID(), name: 'Bob', linkHash: hashOf(link) };
  const bob = { id: request.commandId, name: 'Bob' };
  expect(await first('POST', '/v1/people', request)).toMatchObject({ status: 201, body: { person: bob } });
  expect(await signIn(link)).toMatchObject({ status: 201, body: { person: bob } });
  // A repetition changes nothing: a link that was used is not valid again.
  expect(await first('POST', '/v1/people', request)).toMatchObject({ status: 201, body: { person: bob } });
  expect((await signIn(link)).status).toBe(403);
  const other = { ...request, commandId: randomUUID() };
  expect((await first<Problem>('POST', '/v1/people', other)).body.code).toBe('invalid-body');

  expect((await first<PersonList>('GET', '/v1/people')).body.people).toEqual([
    { id: plane.personId, name: 'Ada', removed: false },
    { ...bob, removed: false },
  ]);
  const again = makeSecret('rcl');
  const path = `/v1/people/${bob.id}/sign-in-links`;
  expect((await first('POST', path, { commandId: randomUUID(), linkHash: hashOf(again) })).status).toBe(201);
  expect((await signIn(again)).status).toBe(201);
  expect((await plane.store.readStream(`person-${bob.id}`))[0]).toMatchObject({
    actor: { kind: 'person', id: plane.personId },
    event: { type: 'PersonRegistered', name: 'Bob' },
  });
});

it('lets nobody but the first person make a read model again: everybody waits for it (U7, O29)', async () => {
  const asEve = await askAs(plane, await plane.anotherPerson('Eve'));
  const path = '/v1/read-models/history/rebuild';
  expect(await asEve<Problem>('POST', path)).toMatchObject({ status: 403, body: { code: 'not-the-first-person' } });
  expect((await asEve('GET', '/v1/read-models')).status).toBe(200);
  expect((await first('POST', path)).status).toBe(202);
});

it('gives the first person no way in to somebody whom they have not added, and says of no link that it works which does not', async () => {
  const eve = await plane.anotherPerson('Eve');
  const add = (body: object) => first<Problem>('POST', '/v1/people', { linkHash: hashOf(makeSecret('rcl')), ...body });
  for (const name of ['Eve', 'Mallory']) expect((await add({ commandId: eve, name })).body.code).toBe('invalid-body');
  const { people } = (await first<PersonList>('GET', '/v1/people')).body;
  expect(people.map(({ id }) => id)).not.toContain(eve);

  const carl = { commandId: randomUUID(), name: 'Carl' };
  expect((await add(carl)).status).toBe(201);
  expect((await add(carl)).body.code).toBe('invalid-body');
  const issue = (body: object) => first<Problem>('POST', `/v1/people/${carl.commandId}/sign-in-links`, body);
  const link = makeSecret('rcl');
  const request = { commandId: randomUUID(), linkHash: hashOf(link) };
  expect((await issue(request)).status).toBe(201);
  expect((await signIn(link)).status).toBe(201);
  expect((await issue(request)).status).toBe(201);
  expect((await issue({ ...request, linkHash: hashOf(makeSecret('rcl')) })).body.code).toBe('invalid-body');
  expect((await issue({ ...request, commandId: randomUUID() })).body.code).toBe('invalid-body');
  expect((await signIn(link)).status).toBe(403);
});

it('removes somebody whom the first person has added, with all that they could sign in with, on every instance from the next request on (U9)', async () => {
  const link = makeSecret('rcl');
  const dora = { id: randomUUID(), name: 'Dora' };
  await first('POST', '/v1/people', { commandId: dora.id, name: dora.name, linkHash: hashOf(link) });
  const { session } = (await signIn(link)).body;
  const automation = makeSecret('rca');
  const token = { tokenHash: hashOf(automation), name: 'bot', scopes: ['presence:read'], expiresIn: 600 };
  const other = await plane.another();
  const asDora = async (method: 'GET' | 'POST', path: string, bearer: string, body?: object) => {
    const client = new PinnedClient({ origin: other.url, pins: other.pins });
    const headers = { authorization: `Bearer ${bearer}`, ...(body ? { 'content-type': 'application/json' } : {}) };
    return (await client.request({ method, path, headers, ...(body ? { body: JSON.stringify(body) } : {}) })).status;
  };
  expect(await asDora('POST', '/v1/automation-tokens', session, { commandId: randomUUID(), ...token })).toBe(201);
  const workspace = randomUUID();
  await first('POST', '/v1/workspaces', { commandId: workspace, name: 'rooms' });
  const member = { commandId: randomUUID(), person: dora.id };
  expect((await first('PUT', `/v1/workspaces/${workspace}/members`, member)).status).toBe(200);
  const box = await plane.join({ owner: dora.id });

  const path = `/v1/people/${dora.id}`;
  const remove = () => first<Problem>('DELETE', path, { commandId: randomUUID() });
  // Nobody else could delete it. It counts from the moment at which it joined.
  expect(await remove()).toMatchObject({ status: 409, body: { code: 'machines-left' } });
  expect(await asDora('GET', '/v1/me', session)).toBe(200);
  await plane.store.decide(
    machine,
    { stream: machineStream(box.id) },
    { type: 'DeleteMachine' },
    { actor: { kind: 'person', id: dora.id } },
  );
  const unused = makeSecret('rcl');
  const another = { commandId: randomUUID(), linkHash: hashOf(unused) };
  expect((await first('POST', `${path}/sign-in-links`, another)).status).toBe(201);

  expect(await remove()).toMatchObject({ status: 200, body: { person: dora } });
  for (const bearer of [session, automation]) expect(await asDora('GET', '/v1/machines', bearer)).toBe(401);
  expect((await signIn(unused)).status).toBe(403);
  expect((await first('POST', `${path}/sign-in-links`, { ...another, commandId: randomUUID() })).status).toBe(404);
  expect((await first<WorkspaceView>('GET', `/v1/workspaces/${workspace}`)).body.members).toEqual([]);
  expect((await first<PersonList>('GET', '/v1/people')).body.people.at(-1)).toEqual({ ...dora, removed: true });
  expect(await remove()).toMatchObject({ status: 200, body: { person: dora } });
  // What joined at that very moment is deleted by whoever finds it.
  const late = await plane.join({ owner: dora.id });
  expect((await remove()).status).toBe(200);
  expect((await plane.store.readStream(machineStream(late.id))).at(-1)).toMatchObject({
    actor: { id: plane.personId },
    event: { type: 'MachineDeleted' },
  });
  // A membership that was given then can still be ended by the owner.
  const actor = { kind: 'person', id: plane.personId } as const;
  const join = { type: 'AddMember', by: plane.personId, personId: dora.id } as const;
  await plane.store.decide(workspaceRules, { stream: workspaceStream(workspace) }, join, { actor });
  const members = `/v1/workspaces/${workspace}/members`;
  expect((await first<Problem>('PUT', members, { ...member, commandId: randomUUID() })).body.code).toBe(
    'person-not-found',
  );
  expect((await first('DELETE', members, { ...member, commandId: randomUUID() })).status).toBe(200);
  const ended = await plane.store.readStream(`person-${dora.id}`);
  expect(ended.at(-1)).toMatchObject({ actor: { id: plane.personId }, event: { type: 'AccessEnded' } });
});

it('removes neither the first person nor anybody whom they have not added', async () => {
  const remove = (id: string) => first<Problem>('DELETE', `/v1/people/${id}`, { commandId: randomUUID() });
  expect((await remove(plane.personId)).body.code).toBe('first-person-stays');
  expect((await remove(await plane.anotherPerson('Eve'))).body.code).toBe('person-not-found');
});

it('lets nobody but the first person do that, or see who there is (O29)', async () => {
  const eve = await plane.anotherPerson('Eve');
  const asEve = await askAs(plane, eve);
  const linkHash = hashOf(makeSecret('rcl'));
  const add = await asEve<Problem>('POST', '/v1/people', { commandId: randomUUID(), name: 'Mallory', linkHash });
  expect(add).toMatchObject({ status: 403, body: { code: 'not-the-first-person' } });
  const link = { commandId: randomUUID(), linkHash };
  expect((await asEve<Problem>('POST', `/v1/people/${plane.personId}/sign-in-links`, link)).status).toBe(404);
  expect((await asEve<PersonList>('GET', '/v1/people')).body.people).toEqual([
    { id: eve, name: 'Eve', removed: false },
  ]);
});
