import { describe, expect, it } from '@jest/globals';
import { against } from '../testing/against.js';
import {
  changeBinding,
  changeMember,
  createWorkspace,
  leaveWorkspace,
  listWorkspaces,
  showWorkspace,
} from './workspaces.js';

const workspace = { id: 'w1', name: 'robots', isOwner: true };
const commandId = expect.any(String);

describe('workspaces', () => {
  it('are made and listed', async () => {
    const made = await against({ workspace }, (context) => createWorkspace('robots', context));
    expect(made.asked).toMatchObject([{ method: 'POST', path: '/v1/workspaces', body: { commandId, name: 'robots' } }]);
    expect(made.out).toBe('robots is there: w1\n');
    expect((await against({ workspaces: [workspace] }, listWorkspaces)).out).toMatch(/w1 +robots +yes\n/);
    expect((await against({ workspaces: [] }, listWorkspaces)).out).toBe('You belong to no workspace.\n');
  });

  it('are shown with what is bound to them (O29)', async () => {
    const bindings = [
      { node: 'n1', directory: '/srv/a', machine: { id: 'm1', name: null, presence: 'absent' } },
      { node: 'n2', directory: '/srv/b', machine: null },
    ];
    const { out, asked } = await against(
      { workspace, owner: { id: 'p0', name: 'Ada' }, members: [{ id: 'p1', name: 'Bob' }], bindings },
      (context) => showWorkspace('w1', context),
    );
    expect(asked).toMatchObject([{ method: 'GET', path: '/v1/workspaces/w1' }]);
    expect(out).toMatch(/^robots of Ada, with Bob \(p1\)\n/);
    expect(out).toMatch(/\/srv\/a +m1 +absent\n/);
    expect(out).toMatch(/\/srv\/b +\(none\)/);
  });

  it('are left by a member', async () => {
    const { out, asked } = await against({}, (context) => leaveWorkspace('w1', context));
    expect(asked).toMatchObject([{ method: 'DELETE', path: '/v1/workspaces/w1/membership', body: { commandId } }]);
    expect(out).toBe('You belong to it no longer.\n');
  });

  it.each(['PUT', 'DELETE'] as const)('are changed by %s of a member or a directory', async (method) => {
    const member = await against({ workspace }, (context) => changeMember(method)('w1', 'p1', context));
    expect(member.asked).toMatchObject([
      { method, path: '/v1/workspaces/w1/members', body: { commandId, person: 'p1' } },
    ]);
    const bound = await against({ workspace }, (context) => changeBinding(method)('w1', 'box', '/srv', context));
    expect(bound.asked).toMatchObject([
      { method, path: '/v1/workspaces/w1/bindings', body: { commandId, machine: 'box', directory: '/srv' } },
    ]);
    expect(bound.out).toBe('robots is as you said.\n');
  });
});
