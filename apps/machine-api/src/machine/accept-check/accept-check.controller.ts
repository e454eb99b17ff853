import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Allow, ApiProblems, Caller, schemaPipe } from '@rollcall/nest-platform';
import type { CheckAnswer } from '@rollcall/wire';
import type { PresentedCredential } from '../presented-credential.js';
import { AcceptMachineCheck } from './accept-check.command.js';
import { CheckAnswerDto } from './accept-check.dto.js';
import { CHECK_DOCUMENT, CHECK_SCHEMA, saidBy, type CheckBody } from './check-body.js';

const CHECK_BODY = schemaPipe(CHECK_SCHEMA);

@ApiTags('machine')
@Allow('machine')
@Controller('v1/check')
export class AcceptCheckController {
  constructor(private readonly commands: CommandBus) {}

  /** Says that the machine is there. The same check again, after a lost answer, is answered as before and recorded once. */
  @Post()
  @HttpCode(200)
  @ApiBody({ schema: CHECK_DOCUMENT })
  @ApiOkResponse({ type: CheckAnswerDto })
  @ApiProblems(
    'credential-unknown',
    'generation-behind',
    'credential-revoked',
    'stale-check',
    'invalid-body',
    'malformed-body',
    'too-large',
    'unsupported-type',
    'unavailable',
  )
  check(@Caller() { keyHash }: PresentedCredential, @Body(CHECK_BODY) body: CheckBody): Promise<CheckAnswer> {
    return this.commands.execute(new AcceptMachineCheck(keyHash, saidBy(body)));
  }
}
