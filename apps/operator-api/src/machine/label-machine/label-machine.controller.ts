import { Body, Controller, Param, Patch } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { LabelAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { WANTED_MACHINE } from '../wanted-machine.js';
import { LabelOwnedMachine } from './label-machine.command.js';
import { LabelAnswerDto, LabelMachineDto } from './label-machine.dto.js';

@ApiTags('machines')
@Does('label-machine')
@Controller('v1/machines/:machine/labels')
export class LabelMachineController {
  constructor(private readonly commands: CommandBus) {}

  /** Attaches labels to a machine and takes others away. */
  @Patch()
  @ApiParam(WANTED_MACHINE)
  @ApiOkResponse({ type: LabelAnswerDto })
  @ApiProblems('not-signed-in', 'machine-not-found', 'name-ambiguous', 'too-many-labels', 'invalid-body', 'unavailable')
  labelMachine(
    @Caller() { id }: SignedIn,
    @Param('machine') wanted: string,
    @Body(STRICT_BODY) { commandId, set = {}, remove = [] }: LabelMachineDto,
  ): Promise<LabelAnswer> {
    return this.commands.execute(new LabelOwnedMachine(id, commandId, wanted, set, remove));
  }
}
