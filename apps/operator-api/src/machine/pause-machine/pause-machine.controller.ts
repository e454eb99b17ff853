import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { Refusal } from '@rollcall/decider';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { PauseAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { WANTED_MACHINE } from '../wanted-machine.js';
import { PauseOwnedMachine } from './pause-machine.command.js';
import { PauseAnswerDto, PauseMachineDto } from './pause-machine.dto.js';

@ApiTags('machines')
@Does('pause-machine')
@Controller('v1/machines/:machine/pause')
export class PauseMachineController {
  constructor(private readonly commands: CommandBus) {}

  /** Takes a machine out of work, or changes the note and the expiry of its pause. Nothing that the machine says ends it. */
  @Post()
  @HttpCode(200)
  @ApiParam(WANTED_MACHINE)
  @ApiOkResponse({ type: PauseAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'machine-not-found',
    'name-ambiguous',
    'pause-already-over',
    'invalid-body',
    'unavailable',
  )
  pauseMachine(
    @Caller() { id }: SignedIn,
    @Param('machine') wanted: string,
    @Body(STRICT_BODY) { commandId, note, until = null, for: seconds = null }: PauseMachineDto,
  ): Promise<PauseAnswer> {
    if (until !== null && seconds !== null)
      throw new Refusal('invalid-body', { errors: [{ field: 'for', message: 'cannot be given together with until' }] });
    return this.commands.execute(
      new PauseOwnedMachine(id, commandId, wanted, note, seconds === null ? until : { seconds }),
    );
  }
}
