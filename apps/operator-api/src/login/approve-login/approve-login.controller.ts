import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { AnsweredLogin } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { AnsweredLoginDto } from '../answered-login.dto.js';
import { RefuseCodeDto } from '../../code/refuse-code/refuse-code.dto.js';
import { ApproveProgram } from './approve-login.command.js';

@ApiTags('sessions')
@Does('approve-login')
@Controller('v1/logins/approve')
export class ApproveLoginController {
  constructor(private readonly commands: CommandBus) {}

  /** Lets the program that shows the code act as this person: it has a session at its next question, no fresher than the one that asks here. */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ type: AnsweredLoginDto })
  @ApiProblems(
    'not-signed-in',
    'session-not-fresh',
    'code-refused',
    'too-many-wrong-codes',
    'invalid-body',
    'unavailable',
  )
  approveLogin(
    @Caller() person: SignedIn,
    @Body(STRICT_BODY) { commandId, code }: RefuseCodeDto,
  ): Promise<AnsweredLogin> {
    return this.commands.execute(new ApproveProgram(person, commandId, code));
  }
}
