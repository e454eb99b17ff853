import { Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { WorkspaceAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { CreateWorkspaceDto, WorkspaceAnswerDto } from '../workspace.dto.js';
import { CreateOwnWorkspace } from './create-workspace.command.js';

@ApiTags('workspaces')
@Does('create-workspace')
@Controller('v1/workspaces')
export class CreateWorkspaceController {
  constructor(private readonly commands: CommandBus) {}

  /** Makes a workspace of the caller's, which shows nothing until a directory is bound to it. */
  @Post()
  @ApiCreatedResponse({ type: WorkspaceAnswerDto })
  @ApiProblems('not-signed-in', 'workspace-full', 'invalid-body', 'unavailable')
  createWorkspace(
    @Caller() { id }: SignedIn,
    @Body(STRICT_BODY) { commandId, name }: CreateWorkspaceDto,
  ): Promise<WorkspaceAnswer> {
    return this.commands.execute(new CreateOwnWorkspace(id, commandId, name));
  }
}
