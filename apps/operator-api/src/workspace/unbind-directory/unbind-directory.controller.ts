import { Body, Controller, Delete, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { WorkspaceAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { BoundNodes } from '../bound-nodes.js';
import { ChangeWorkspace } from '../change-workspace/change-workspace.command.js';
import { WorkspaceAnswerDto, WorkspaceBindingDto } from '../workspace.dto.js';

@ApiTags('workspaces')
@Does('unbind-directory')
@Controller('v1/workspaces/:workspace/bindings')
export class UnbindDirectoryController {
  constructor(
    private readonly commands: CommandBus,
    private readonly nodes: BoundNodes,
  ) {}

  /** Takes a directory out of the workspace. */
  @Delete()
  @ApiOkResponse({ type: WorkspaceAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'workspace-not-found',
    'machine-not-found',
    'name-ambiguous',
    'workspace-full',
    'invalid-body',
    'unavailable',
  )
  async unbindDirectory(
    @Caller() { id: by }: SignedIn,
    @Param('workspace') workspace: string,
    @Body(STRICT_BODY) { commandId, machine, directory }: WorkspaceBindingDto,
  ): Promise<WorkspaceAnswer> {
    const nodeId = await this.nodes.nodeOf(machine, by);
    const change = { type: 'UnbindDirectory', by, nodeId, directory } as const;
    return this.commands.execute(new ChangeWorkspace(commandId, workspace.toLowerCase(), change));
  }
}
