import { Body, Controller, Param, Patch } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { RenameAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { WANTED_MACHINE } from '../wanted-machine.js';
import { RenameOwnedMachine } from './rename-machine.command.js';
import { RenameAnswerDto, RenameMachineDto } from './rename-machine.dto.js';

@ApiTags('machines')
@Does('rename-machine')
@Controller('v1/machines/:machine')
export class RenameMachineController {
  constructor(private readonly commands: CommandBus) {}

  /** Names a machine; no later check changes that (O24). */
  @Patch()
  @ApiParam(WANTED_MACHINE)
  @ApiOkResponse({ type: RenameAnswerDto })
  @ApiProblems('not-signed-in', 'machine-not-found', 'name-ambiguous', 'invalid-body', 'unavailable')
  renameMachine(
    @Caller() { id }: SignedIn,
    @Param('machine') wanted: string,
    @Body(STRICT_BODY) { commandId, name }: RenameMachineDto,
  ): Promise<RenameAnswer> {
    return this.commands.execute(new RenameOwnedMachine(id, commandId, wanted, name));
  }
}
