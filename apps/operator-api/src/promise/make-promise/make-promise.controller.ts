import { Body, Controller, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { PromiseAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { PromiseAnswerDto } from '../promise.dto.js';
import { MakeOwnPromise } from './make-promise.command.js';
import { MakePromiseDto } from './make-promise.dto.js';

@ApiTags('promises')
@Does('make-promise')
@Controller('v1/promises')
export class MakePromiseController {
  constructor(private readonly commands: CommandBus) {}

  /** Promises that a machine's node, or every node with a label, is there at the times of a schedule; a node's own promise counts more. */
  @Put()
  @ApiOkResponse({ type: PromiseAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'machine-not-found',
    'name-ambiguous',
    'too-many-promises',
    'invalid-body',
    'unavailable',
  )
  makePromise(
    @Caller() { id }: SignedIn,
    @Body(STRICT_BODY) { commandId, schedule, ...subject }: MakePromiseDto,
  ): Promise<PromiseAnswer> {
    return this.commands.execute(new MakeOwnPromise(id, commandId, subject, schedule));
  }
}
