import { Body, Controller, Delete, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { WorkspaceAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { ChangeWorkspace } from '../change-workspace/change-workspace.command.js';
import { WorkspaceAnswerDto, WorkspaceMemberDto } from '../workspace.dto.js';

@ApiTags('workspaces')
@Does('remove-member')
@Controller('v1/workspaces/:workspace/members')
export class RemoveMemberController {
  constructor(private readonly commands: CommandBus) {}

  /** Takes a member out: from the next request on the workspace is not there for them. */
  @Delete()
  @ApiOkResponse({ type: WorkspaceAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'workspace-not-found',
    'person-not-found',
    'owner-stays',
    'workspace-full',
    'invalid-body',
    'unavailable',
  )
  removeMember(
    @Caller() { id: by }: SignedIn,
    @Param('workspace') workspace: string,
    @Body(STRICT_BODY) { commandId, person: personId }: WorkspaceMemberDto,
  ): Promise<WorkspaceAnswer> {
    const change = { type: 'RemoveMember', by, personId } as const;
    return this.commands.execute(new ChangeWorkspace(commandId, workspace.toLowerCase(), change));
  }
}
