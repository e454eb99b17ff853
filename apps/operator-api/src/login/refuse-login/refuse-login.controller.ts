import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { AnsweredLogin } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { AnsweredLoginDto } from '../answered-login.dto.js';
import { RefuseCodeDto } from '../../code/refuse-code/refuse-code.dto.js';
import { RefuseProgram } from './refuse-login.command.js';

@ApiTags('sessions')
@Does('refuse-login')
@Controller('v1/logins/refuse')
export class RefuseLoginController {
  constructor(private readonly commands: CommandBus) {}

  /** Refuses the program that shows the code; it is told so at its next question. */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ type: AnsweredLoginDto })
  @ApiProblems('not-signed-in', 'code-refused', 'too-many-wrong-codes', 'invalid-body', 'unavailable')
  refuseLogin(
    @Caller() person: SignedIn,
    @Body(STRICT_BODY) { commandId, code }: RefuseCodeDto,
  ): Promise<AnsweredLogin> {
    return this.commands.execute(new RefuseProgram(person, commandId, code));
  }
}
