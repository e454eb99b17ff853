import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { AnsweredCode } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { AnsweredCodeDto } from '../answered-code.dto.js';
import { ApproveShortCode } from './approve-code.command.js';
import { ApproveCodeDto } from './approve-code.dto.js';

@ApiTags('codes')
@Does('approve-code')
@Controller('v1/codes/approve')
export class ApproveCodeController {
  constructor(private readonly commands: CommandBus) {}

  /**
   * Lets in the installation that shows the code: it becomes a machine of this person at its next question (O12). For a node, the machine that it
   * has is deleted in the same append (N19).
   */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ type: AnsweredCodeDto })
  @ApiProblems(
    'not-signed-in',
    'session-not-fresh',
    'code-refused',
    'too-many-wrong-codes',
    'machine-not-found',
    'name-ambiguous',
    'invalid-body',
    'unavailable',
  )
  approveCode(
    @Caller() person: SignedIn,
    @Body(STRICT_BODY) { commandId, code, name = null, node = null }: ApproveCodeDto,
  ): Promise<AnsweredCode> {
    return this.commands.execute(new ApproveShortCode(person, commandId, code, name, node));
  }
}
