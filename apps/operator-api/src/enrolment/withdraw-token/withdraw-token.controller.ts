import { Body, Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiNoContentResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { SignedIn } from '../../access/person-authenticator.js';
import { WithdrawEnrolmentToken } from './withdraw-token.command.js';
import { WithdrawTokenDto } from './withdraw-token.dto.js';

@ApiTags('enrolment')
@Does('withdraw-token')
@Controller('v1/enrolment-tokens/:token')
export class WithdrawTokenController {
  constructor(private readonly commands: CommandBus) {}

  /** Takes a token, or the credential of a machine to come, back: nobody is admitted with it from then on, on every instance. */
  @Delete()
  @HttpCode(204)
  @ApiNoContentResponse()
  @ApiProblems('not-signed-in', 'token-not-found', 'already-admitted', 'invalid-body', 'unavailable')
  withdrawToken(
    @Caller() { id }: SignedIn,
    @Param('token') token: string,
    @Body(STRICT_BODY) { commandId }: WithdrawTokenDto,
  ): Promise<void> {
    return this.commands.execute(new WithdrawEnrolmentToken(id, commandId, token.toLowerCase()));
  }
}
