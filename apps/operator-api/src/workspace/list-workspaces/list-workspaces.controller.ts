import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import type { WorkspaceList } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { SeenWorkspaces } from '../seen-workspaces.js';
import { WorkspaceListDto } from '../workspace.dto.js';

@ApiTags('workspaces')
@Does('list-workspaces')
@Controller('v1/workspaces')
export class ListWorkspacesController {
  constructor(private readonly workspaces: SeenWorkspaces) {}

  /** The workspaces that the caller owns or is a member of. */
  @Get()
  @ApiOkResponse({ type: WorkspaceListDto })
  @ApiProblems('not-signed-in', 'unavailable')
  async listWorkspaces(@Caller() { id }: SignedIn): Promise<WorkspaceList> {
    return { workspaces: await this.workspaces.all(id) };
  }
}
