import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { WorkspaceList, WorkspaceView } from '@rollcall/wire';
import { startOperatorPlane, type OperatorPlane } from '../../../../test/support/operator-plane.js';
import { askAs, type Ask } from '../../../../test/support/signed-in.js';

jest.setTimeout(60_000);

let plane: OperatorPlane;
let ada: Ask;
let bob: Ask;
let bobId: string;
beforeAll(async () => {
  plane = await startOperatorPlane();
  ada = await askAs(plane);
  bobId = await plane.anotherPerson('Bob');
  bob = await askAs(plane, bobId);
});
afterAll(() => plane.close());

it('shows a member the directories that are bound to it, and nothing else of their nodes (O29)', async () => {
  const [shared, hidden] = [await plane.join({ name: 'shared' }), await plane.join({ name: 'hidden' })];
  await Promise.all([shared.check({ blockers: ['disk-full'] }), hidden.check()]);
  await plane.caughtUp();
  const id = randomUUID();
  const path = `/v1/workspaces/${id}`;
  const make = { commandId: id, name: 'robots' };
  for (let time = 0; time < 2; time += 1)
    expect(await ada('POST', '/v1/workspaces', make)).toMatchObject({ status: 201, body: { workspace: { id } } });
  const bind = { machine: 'shared', directory: '/srv/robots' };
  expect((await ada('PUT', `${path}/bindings`, { commandId: randomUUID(), ...bind })).status).toBe(200);
  expect((await bob('GET', path)).status).toBe(404);

  const member = { person: bobId };
  expect((await ada('PUT', `${path}/members`, { commandId: randomUUID(), ...member })).status).toBe(200);
  const seen = await bob<WorkspaceView>('GET', path);
  expect(seen.body).toEqual({
    workspace: { id, name: 'robots', isOwner: false },
    owner: { id: plane.personId, name: 'Ada' },
    members: [{ id: bobId, name: 'Bob' }],
    bindings: [
      {
        node: expect.any(String),
        directory: '/srv/robots',
        machine: { id: shared.id, name: 'shared', presence: 'present' },
      },
    ],
  });
  expect(JSON.stringify(seen.body)).not.toContain(hidden.id);
  expect((await bob<WorkspaceList>('GET', '/v1/workspaces')).body.workspaces).toEqual([seen.body.workspace]);
  // What is bound is shown in the workspace: the machine itself is still not theirs.
  expect((await bob('GET', `/v1/machines/${shared.id}`)).status).toBe(404);
  expect((await bob('PUT', `${path}/bindings`, { commandId: randomUUID(), ...bind })).status).toBe(404);
  expect((await bob('DELETE', `${path}/members`, { commandId: randomUUID(), ...member })).status).toBe(404);

  expect((await ada('DELETE', `${path}/bindings`, { commandId: randomUUID(), ...bind })).status).toBe(200);
  expect((await bob<WorkspaceView>('GET', path)).body.bindings).toEqual([]);
  expect((await ada('DELETE', `${path}/members`, { commandId: randomUUID(), ...member })).status).toBe(200);
  expect((await bob('GET', path)).status).toBe(404);
  expect((await bob<WorkspaceList>('GET', '/v1/workspaces')).body.workspaces).toEqual([]);
});

it('is left by a member, and by its owner never', async () => {
  const id = randomUUID();
  const path = `/v1/workspaces/${id}`;
  await ada('POST', '/v1/workspaces', { commandId: id, name: 'rooms' });
  await ada('PUT', `${path}/members`, { commandId: randomUUID(), person: bobId });
  const leave = { commandId: randomUUID() };
  const left = { status: 404, body: { code: 'workspace-not-found' } };
  // A repetition after a lost answer is answered alike, and another try is that of somebody to whom it is not there.
  for (let time = 0; time < 2; time += 1) expect((await bob('DELETE', `${path}/membership`, leave)).status).toBe(204);
  expect(await bob('DELETE', `${path}/membership`, { commandId: randomUUID() })).toMatchObject(left);
  expect(await bob('GET', path)).toMatchObject(left);
  expect((await bob<WorkspaceList>('GET', '/v1/workspaces')).body.workspaces.map((each) => each.id)).not.toContain(id);
  const stays = { status: 409, body: { code: 'owner-stays' } };
  expect(await ada('DELETE', `${path}/membership`, { commandId: randomUUID() })).toMatchObject(stays);
  const remove = { commandId: randomUUID(), person: plane.personId };
  expect(await ada('DELETE', `${path}/members`, remove)).toMatchObject(stays);
  expect((await ada('GET', path)).status).toBe(200);
});

it.each(['srv', '/srv/../etc', '/srv/.', '/a\u0000b', ''])('takes no directory like %j', async (directory) => {
  const body = { commandId: randomUUID(), machine: 'x', directory };
  expect((await ada('PUT', `/v1/workspaces/${randomUUID()}/bindings`, body)).status).toBe(422);
});
