// Ledger events of the categories `workspace`, one stream per workspace, and `memberships`, one per person. The actor is the owner.

/** A person made a workspace, which shows nothing of anybody until a directory is bound to it. */
export type WorkspaceCreated = { readonly type: 'WorkspaceCreated'; readonly name: string; readonly owner: string };
/** Somebody sees what is bound to it from now on. */
export type MemberAdded = { readonly type: 'MemberAdded'; readonly personId: string };
/** And does not any more. */
export type MemberRemoved = { readonly type: 'MemberRemoved'; readonly personId: string };
/** A directory on a node of the owner belongs to it (O29). */
export type DirectoryBound = { readonly type: 'DirectoryBound'; readonly nodeId: string; readonly directory: string };
/** And does not any more. */
export type DirectoryUnbound = {
  readonly type: 'DirectoryUnbound';
  readonly nodeId: string;
  readonly directory: string;
};

/** Everything that can happen to a workspace. */
export type WorkspaceEvent = WorkspaceCreated | MemberAdded | MemberRemoved | DirectoryBound | DirectoryUnbound;

/** A person belongs to a workspace. */
export type WorkspaceJoined = { readonly type: 'WorkspaceJoined'; readonly workspaceId: string };
/** And does not any more. */
export type WorkspaceLeft = { readonly type: 'WorkspaceLeft'; readonly workspaceId: string };

/** Everything that can happen to the memberships of a person. */
export type MembershipEvent = WorkspaceJoined | WorkspaceLeft;
