import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { memberships, MOST_IN_WORKSPACE, sees, workspace } from './workspace.js';
import type { WorkspaceEvent } from './workspace-facts.js';

const given = specFor(workspace);
const created = { type: 'WorkspaceCreated', name: 'robots', owner: 'ada' } as const;
const added = (personId = 'bob') => ({ type: 'MemberAdded', personId }) as const;
const place = { nodeId: 'n1', directory: '/srv/robots' } as const;
const bound = { type: 'DirectoryBound', ...place } as const;
const add = (personId = 'bob', by = 'ada') => ({ type: 'AddMember', by, personId }) as const;
const bind = (by = 'ada', directory = '/srv/robots') =>
  ({ type: 'BindDirectory', by, nodeId: 'n1', directory }) as const;
const stateAfter = (...facts: WorkspaceEvent[]) => facts.reduce(workspace.evolve, workspace.initial());

describe('a workspace', () => {
  it('is made once', () => {
    given().when({ type: 'CreateWorkspace', name: 'robots', owner: 'ada' }).then(created);
    given(created).when({ type: 'CreateWorkspace', name: 'x', owner: 'eve' }).thenNothing();
  });

  it('is changed by its owner alone: to a member and to a stranger it is not there (O29)', () => {
    for (const by of ['bob', 'eve'])
      for (const command of [
        add('eve', by),
        { ...add('carl', by), type: 'RemoveMember' },
        bind(by),
        { ...bind(by), type: 'UnbindDirectory' },
      ] as const)
        given(created, added(), added('carl'), bound).when(command).thenRefused('workspace-not-found', {});
    given().when(add()).thenRefused('workspace-not-found', {});
  });

  it('has members, each once, who see it until they are removed (O29)', () => {
    given(created).when(add()).then(added());
    given(created, added()).when(add()).thenNothing();
    given(created).when(add('ada')).thenNothing();
    const remove = { ...add(), type: 'RemoveMember' } as const;
    given(created, added('eve'), added()).when(remove).then({ type: 'MemberRemoved', personId: 'bob' });
    given(created).when(remove).thenNothing();
    const state = stateAfter(created, added('eve'), added(), { type: 'MemberRemoved', personId: 'bob' });
    expect(['ada', 'eve', 'bob', 'mallory'].map((who) => sees(state, who))).toEqual([true, true, false, false]);
    expect(sees(null, 'ada')).toBe(false);
  });

  it('is left by a member, and never by its owner', () => {
    const leave = (by: string) => ({ type: 'RemoveMember', by, personId: by }) as const;
    given(created, added()).when(leave('bob')).then({ type: 'MemberRemoved', personId: 'bob' });
    given(created, added()).when(leave('eve')).thenRefused('workspace-not-found', {});
    given(created, added()).when(leave('ada')).thenRefused('owner-stays', {});
    given().when(leave('bob')).thenRefused('workspace-not-found', {});
  });

  it('has directories of nodes bound to it, each once, until they are taken away (O29)', () => {
    given(created).when(bind()).then(bound);
    given(created, bound).when(bind()).thenNothing();
    given(created, bound)
      .when(bind('ada', '/srv/other'))
      .then({ ...bound, directory: '/srv/other' });
    const unbind = { ...bind(), type: 'UnbindDirectory' } as const;
    given(created, { ...bound, nodeId: 'n2' }, bound)
      .when(unbind)
      .then({ type: 'DirectoryUnbound', ...place });
    given(created, { ...bound, nodeId: 'n2' })
      .when(unbind)
      .thenNothing();
    const left = stateAfter(created, { ...bound, nodeId: 'n2' }, bound, { type: 'DirectoryUnbound', ...place });
    expect(left?.bindings).toEqual([{ ...place, nodeId: 'n2' }]);
  });

  it('has room for two hundred of each', () => {
    const many = Array.from({ length: MOST_IN_WORKSPACE }, (_, n) => n);
    given(created, ...many.map((n) => added(`p${n}`)))
      .when(add())
      .thenRefused('workspace-full', {});
    given(created, ...many.map((n) => ({ ...bound, directory: `/${n}` })))
      .when(bind())
      .thenRefused('workspace-full', {});
  });

  it('is not changed by a fact of an unknown type, or by one before it was made', () => {
    const state = stateAfter(created);
    expect(workspace.evolve(state, { type: 'WorkspaceSang' } as never)).toBe(state);
    expect(stateAfter(added())).toBeNull();
  });
});

describe('the memberships of a person', () => {
  const givenMemberships = specFor(memberships);
  const joined = (workspaceId = 'w1') => ({ type: 'WorkspaceJoined', workspaceId }) as const;
  const join = { type: 'JoinWorkspace', workspaceId: 'w1' } as const;
  const leave = { type: 'LeaveWorkspace', workspaceId: 'w1' } as const;

  it('name each workspace once, until it is left', () => {
    givenMemberships().when(join).then(joined());
    givenMemberships(joined()).when(join).thenNothing();
    givenMemberships(joined(), joined('w2')).when(leave).then({ type: 'WorkspaceLeft', workspaceId: 'w1' });
    givenMemberships(joined(), joined('w2'))
      .when(leave)
      .thenState({ workspaces: ['w2'] });
    givenMemberships(joined('w2')).when(leave).thenNothing();
    givenMemberships(joined(), joined('w2')).when({ type: 'LeaveAllWorkspaces' }).thenState({ workspaces: [] });
    const many = Array.from({ length: MOST_IN_WORKSPACE }, (_, n) => joined(`x${n}`));
    givenMemberships(...many)
      .when(join)
      .thenRefused('workspace-full', {});
    const state = memberships.evolve(memberships.initial(), joined());
    expect(memberships.evolve(state, { type: 'PersonSang' } as never)).toBe(state);
  });
});
