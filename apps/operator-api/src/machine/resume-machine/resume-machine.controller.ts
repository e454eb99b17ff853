import { Body, Controller, Delete, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { PauseAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { PauseAnswerDto } from '../pause-machine/pause-machine.dto.js';
import { WANTED_MACHINE } from '../wanted-machine.js';
import { ResumeOwnedMachine } from './resume-machine.command.js';
import { ResumeMachineDto } from './resume-machine.dto.js';

@ApiTags('machines')
@Does('resume-machine')
@Controller('v1/machines/:machine/pause')
export class ResumeMachineController {
  constructor(private readonly commands: CommandBus) {}

  /** Takes the pause back; nothing to do where none is in force. */
  @Delete()
  @ApiParam(WANTED_MACHINE)
  @ApiOkResponse({ type: PauseAnswerDto })
  @ApiProblems('not-signed-in', 'machine-not-found', 'name-ambiguous', 'invalid-body', 'unavailable')
  resumeMachine(
    @Caller() { id }: SignedIn,
    @Param('machine') wanted: string,
    @Body(STRICT_BODY) { commandId }: ResumeMachineDto,
  ): Promise<PauseAnswer> {
    return this.commands.execute(new ResumeOwnedMachine(id, commandId, wanted));
  }
}
