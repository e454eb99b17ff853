import { Body, Controller, Delete } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { PromiseAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { PromiseAnswerDto, PromiseSubjectDto } from '../promise.dto.js';
import { WithdrawOwnPromise } from './withdraw-promise.command.js';

@ApiTags('promises')
@Does('withdraw-promise')
@Controller('v1/promises')
export class WithdrawPromiseController {
  constructor(private readonly commands: CommandBus) {}

  /** Takes a promise back; nothing to do where there is none. A node without a promise of its own has those of its labels again. */
  @Delete()
  @ApiOkResponse({ type: PromiseAnswerDto })
  @ApiProblems('not-signed-in', 'machine-not-found', 'name-ambiguous', 'invalid-body', 'unavailable')
  withdrawPromise(
    @Caller() { id }: SignedIn,
    @Body(STRICT_BODY) { commandId, ...subject }: PromiseSubjectDto,
  ): Promise<PromiseAnswer> {
    return this.commands.execute(new WithdrawOwnPromise(id, commandId, subject));
  }
}
