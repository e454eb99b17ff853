import { Body, Controller, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { RotationRequestAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { WANTED_MACHINE } from '../wanted-machine.js';
import { RequestOwnedRotation } from './request-rotation.command.js';
import { RequestRotationDto, RotationRequestAnswerDto } from './request-rotation.dto.js';

@ApiTags('machines')
@Does('request-rotation')
@Controller('v1/machines/:machine/rotation-requests')
export class RequestRotationController {
  constructor(private readonly commands: CommandBus) {}

  /** Asks a machine for a new credential. It takes one after its next check, and the old one counts until the new one has succeeded (O19).
   * Refused while a copy checks in as well: only a person at the right one can tell which that is (B2). */
  @Post()
  @ApiParam(WANTED_MACHINE)
  @ApiCreatedResponse({ type: RotationRequestAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'machine-not-found',
    'name-ambiguous',
    'duplicate-installation',
    'invalid-body',
    'unavailable',
  )
  requestRotation(
    @Caller() { id }: SignedIn,
    @Param('machine') wanted: string,
    @Body(STRICT_BODY) { commandId }: RequestRotationDto,
  ): Promise<RotationRequestAnswer> {
    return this.commands.execute(new RequestOwnedRotation(id, commandId, wanted));
  }
}
