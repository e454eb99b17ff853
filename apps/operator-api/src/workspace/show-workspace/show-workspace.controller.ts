import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import { MachineQueries } from '@rollcall/read-models';
import type { WorkspaceView } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { AddedPeople } from '../../people/added-people.js';
import { SeenWorkspaces, summaryOf } from '../seen-workspaces.js';
import { WorkspaceViewDto } from '../workspace.dto.js';

@ApiTags('workspaces')
@Does('show-workspace')
@Controller('v1/workspaces/:workspace')
export class ShowWorkspaceController {
  constructor(
    private readonly workspaces: SeenWorkspaces,
    private readonly machines: MachineQueries,
    private readonly people: AddedPeople,
  ) {}

  /** A workspace with the directories that are bound to it. Of their nodes it tells whether there is a machine, and nothing else (O29). */
  @Get()
  @ApiOkResponse({ type: WorkspaceViewDto })
  @ApiProblems('not-signed-in', 'workspace-not-found', 'unavailable')
  async showWorkspace(@Caller() { id }: SignedIn, @Param('workspace') wanted: string): Promise<WorkspaceView> {
    const state = await this.workspaces.find(wanted.toLowerCase(), id);
    const { owner, members, bindings } = state;
    const living = await this.machines.ofNodes([...new Set(bindings.map(({ nodeId }) => nodeId))], owner);
    const shown = await Promise.all(
      [...living].map(async ([node, machine]) => {
        const [view] = (await this.machines.find(machine.id, owner)).machines;
        return [node, view ? { ...machine, presence: view.presence } : null] as const;
      }),
    );
    const machines = new Map(shown);
    return {
      workspace: summaryOf(wanted.toLowerCase(), state, id),
      owner: await this.people.named(owner),
      members: await Promise.all(members.map((member) => this.people.named(member))),
      bindings: bindings.map(({ nodeId, directory }) => ({
        node: nodeId,
        directory,
        machine: machines.get(nodeId) ?? null,
      })),
    };
  }
}
