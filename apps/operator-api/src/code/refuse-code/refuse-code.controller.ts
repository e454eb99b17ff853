import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { AnsweredCode } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { AnsweredCodeDto } from '../answered-code.dto.js';
import { RefuseShortCode } from './refuse-code.command.js';
import { RefuseCodeDto } from './refuse-code.dto.js';

@ApiTags('codes')
@Does('refuse-code')
@Controller('v1/codes/refuse')
export class RefuseCodeController {
  constructor(private readonly commands: CommandBus) {}

  /** Refuses the installation that shows the code; it is told what it would be told of a code that never existed. Whoever has
   * approved it can do so until the installation has picked that up. */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ type: AnsweredCodeDto })
  @ApiProblems(
    'not-signed-in',
    'code-refused',
    'already-admitted',
    'too-many-wrong-codes',
    'invalid-body',
    'unavailable',
  )
  refuseCode(@Caller() person: SignedIn, @Body(STRICT_BODY) { commandId, code }: RefuseCodeDto): Promise<AnsweredCode> {
    return this.commands.execute(new RefuseShortCode(person, commandId, code));
  }
}
