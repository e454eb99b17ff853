import { Body, Controller, Delete, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { DeleteAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { WANTED_MACHINE } from '../wanted-machine.js';
import { DeleteOwnedMachine } from './delete-machine.command.js';
import { DeleteAnswerDto, DeleteMachineDto } from './delete-machine.dto.js';

@ApiTags('machines')
@Does('delete-machine')
@Controller('v1/machines/:machine')
export class DeleteMachineController {
  constructor(private readonly commands: CommandBus) {}

  /** Deletes a machine: its credential is revoked for good, its history stays (O31). */
  @Delete()
  @ApiParam(WANTED_MACHINE)
  @ApiOkResponse({ type: DeleteAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'session-not-fresh',
    'machine-not-found',
    'name-ambiguous',
    'invalid-body',
    'unavailable',
  )
  deleteMachine(
    @Caller() { id }: SignedIn,
    @Param('machine') wanted: string,
    @Body(STRICT_BODY) { commandId }: DeleteMachineDto,
  ): Promise<DeleteAnswer> {
    return this.commands.execute(new DeleteOwnedMachine(id, commandId, wanted));
  }
}
