import { Body, Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiNoContentResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { SignedIn } from '../../access/person-authenticator.js';
import { LeaveWorkspaceDto } from '../workspace.dto.js';
import { LeaveOthersWorkspace } from './leave-workspace.command.js';

@ApiTags('workspaces')
@Does('leave-workspace')
@Controller('v1/workspaces/:workspace/membership')
export class LeaveWorkspaceController {
  constructor(private readonly commands: CommandBus) {}

  /** Takes the caller out of the workspace. Its owner stays. */
  @Delete()
  @HttpCode(204)
  @ApiNoContentResponse()
  @ApiProblems('not-signed-in', 'workspace-not-found', 'owner-stays', 'invalid-body', 'unavailable')
  leaveWorkspace(
    @Caller() { id }: SignedIn,
    @Param('workspace') workspace: string,
    @Body(STRICT_BODY) { commandId }: LeaveWorkspaceDto,
  ): Promise<void> {
    return this.commands.execute(new LeaveOthersWorkspace(id, commandId, workspace.toLowerCase()));
  }
}
