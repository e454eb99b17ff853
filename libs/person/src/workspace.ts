import { type Decider, Refusal } from '@rollcall/decider';
import type { MembershipEvent, WorkspaceEvent } from './workspace-facts.js';

/** How many members and how many directories a workspace has room for, and a person for workspaces. */
export const MOST_IN_WORKSPACE = 200;

/** A person makes a workspace. */
export type CreateWorkspace = { readonly type: 'CreateWorkspace'; readonly name: string; readonly owner: string };
/** What its owner changes; a member can leave it by themselves. A node is one of the owner's: whoever asks has made sure of that. */
export type WorkspaceChange =
  | { readonly type: 'AddMember' | 'RemoveMember'; readonly by: string; readonly personId: string }
  | {
      readonly type: 'BindDirectory' | 'UnbindDirectory';
      readonly by: string;
      readonly nodeId: string;
      readonly directory: string;
    };
/** Everything that can be asked of a workspace. */
export type WorkspaceCommand = CreateWorkspace | WorkspaceChange;

/** A directory on a node. */
export type Binding = { readonly nodeId: string; readonly directory: string };

/** What is known of a workspace; null before it is made. */
export type WorkspaceState = {
  readonly name: string;
  readonly owner: string;
  /** Ids of persons, without the owner. */
  readonly members: readonly string[];
  readonly bindings: readonly Binding[];
} | null;

/** The stream of a workspace. */
export const workspaceStream = (workspaceId: string): string => `workspace-${workspaceId}`;
/** The stream of the workspaces that a person belongs to. */
export const membershipsStream = (personId: string): string => `memberships-${personId}`;

const isSame = (one: Binding, other: Binding): boolean =>
  one.nodeId === other.nodeId && one.directory === other.directory;

/** Whether somebody sees a workspace: its owner and its members. */
export const sees = (state: WorkspaceState, personId: string): boolean =>
  state !== null && (state.owner === personId || state.members.includes(personId));

/** A workspace shows its members the directories that its owner has bound to it, and nothing else of their nodes (O29). */
export const workspace: Decider<WorkspaceState, WorkspaceCommand, WorkspaceEvent> = {
  fold: 1,

  initial: () => null,

  decide(state, command) {
    if (command.type === 'CreateWorkspace')
      return state ? [] : [{ type: 'WorkspaceCreated', name: command.name, owner: command.owner }];
    // To everybody else it is not there, and a member who would change it knows already that it is not theirs.
    const leaves =
      command.type === 'RemoveMember' && command.personId === command.by && state?.members.includes(command.by);
    if (state === null || (state.owner !== command.by && !leaves)) throw new Refusal('workspace-not-found');
    switch (command.type) {
      case 'AddMember':
        if (sees(state, command.personId)) return [];
        if (state.members.length >= MOST_IN_WORKSPACE) throw new Refusal('workspace-full');
        return [{ type: 'MemberAdded', personId: command.personId }];
      case 'RemoveMember':
        if (command.personId === state.owner) throw new Refusal('owner-stays');
        return state.members.includes(command.personId) ? [{ type: 'MemberRemoved', personId: command.personId }] : [];
      case 'BindDirectory': {
        const { nodeId, directory } = command;
        if (state.bindings.some((binding) => isSame(binding, command))) return [];
        if (state.bindings.length >= MOST_IN_WORKSPACE) throw new Refusal('workspace-full');
        return [{ type: 'DirectoryBound', nodeId, directory }];
      }
      case 'UnbindDirectory': {
        const { nodeId, directory } = command;
        const isBound = state.bindings.some((binding) => isSame(binding, command));
        return isBound ? [{ type: 'DirectoryUnbound', nodeId, directory }] : [];
      }
    }
  },

  evolve(state, fact) {
    if (fact.type === 'WorkspaceCreated') return { name: fact.name, owner: fact.owner, members: [], bindings: [] };
    if (state === null) return state;
    switch (fact.type) {
      case 'MemberAdded':
        return { ...state, members: [...state.members, fact.personId] };
      case 'MemberRemoved':
        return { ...state, members: state.members.filter((member) => member !== fact.personId) };
      case 'DirectoryBound':
        return { ...state, bindings: [...state.bindings, { nodeId: fact.nodeId, directory: fact.directory }] };
      case 'DirectoryUnbound':
        return { ...state, bindings: state.bindings.filter((binding) => !isSame(binding, fact)) };
      default:
        return state;
    }
  },
};

/** A person joins or leaves a workspace, in the same append as the workspace says so. */
export type MembershipCommand =
  | { readonly type: 'JoinWorkspace' | 'LeaveWorkspace'; readonly workspaceId: string }
  | { readonly type: 'LeaveAllWorkspaces' };
/** The workspaces that a person belongs to, in the order of joining. */
export type Memberships = { readonly workspaces: readonly string[] };

/** Where a person finds their workspaces again. */
export const memberships: Decider<Memberships, MembershipCommand, MembershipEvent> = {
  fold: 1,
  initial: () => ({ workspaces: [] }),
  decide(state, command) {
    if (command.type === 'LeaveAllWorkspaces')
      return state.workspaces.map((workspaceId) => ({ type: 'WorkspaceLeft', workspaceId }));
    const { type, workspaceId } = command;
    const isIn = state.workspaces.includes(workspaceId);
    if (type === 'LeaveWorkspace') return isIn ? [{ type: 'WorkspaceLeft', workspaceId }] : [];
    if (isIn) return [];
    if (state.workspaces.length >= MOST_IN_WORKSPACE) throw new Refusal('workspace-full');
    return [{ type: 'WorkspaceJoined', workspaceId }];
  },
  evolve(state, fact) {
    switch (fact.type) {
      case 'WorkspaceJoined':
        return { workspaces: [...state.workspaces, fact.workspaceId] };
      case 'WorkspaceLeft':
        return { workspaces: state.workspaces.filter((workspaceId) => workspaceId !== fact.workspaceId) };
      default:
        return state;
    }
  },
};
