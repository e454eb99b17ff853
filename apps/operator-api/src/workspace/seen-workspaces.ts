import { Injectable } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import {
  memberships,
  membershipsStream,
  sees,
  workspace,
  workspaceStream,
  type WorkspaceState,
} from '@rollcall/person';
import type { WorkspaceSummary } from '@rollcall/wire';

/** The workspaces that somebody sees. All others do not exist for them (O29). */
@Injectable()
export class SeenWorkspaces {
  constructor(private readonly store: EventStore) {}

  /** @throws Refusal `workspace-not-found` */
  async find(id: string, personId: string): Promise<NonNullable<WorkspaceState>> {
    const state = (await this.store.view(workspace, { stream: workspaceStream(id) }))?.state ?? null;
    if (!state || !sees(state, personId)) throw new Refusal('workspace-not-found');
    return state;
  }

  /** Those that a person belongs to, in the order of joining. */
  async all(personId: string): Promise<readonly WorkspaceSummary[]> {
    const ids = (await this.store.view(memberships, { stream: membershipsStream(personId) }))?.state.workspaces ?? [];
    return Promise.all(ids.map(async (id) => summaryOf(id, await this.find(id, personId), personId)));
  }
}

/** A workspace in one line. */
export const summaryOf = (
  id: string,
  { name, owner }: NonNullable<WorkspaceState>,
  personId: string,
): WorkspaceSummary => ({ id, name, isOwner: owner === personId });
