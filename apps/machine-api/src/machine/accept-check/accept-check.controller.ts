import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, bodyCheck, callerOf, Does, type WithPrincipal } from '@rollcall/nest-platform';
import type { CheckAnswer } from '@rollcall/wire';
import type { PresentedCredential } from '../presented-credential.js';
import { AcceptMachineCheck } from './accept-check.command.js';
import { CheckAnswerDto } from './accept-check.dto.js';
import { CHECK_DOCUMENT, CHECK_SCHEMA, saidBy, type CheckBody } from './check-body.js';

const checked = bodyCheck(CHECK_SCHEMA);

/** Taken whole: Nest resolves each other parameter, and each pipe, by promises of its own (ADR 13). */
type CheckRequest = WithPrincipal & { readonly body: unknown };

@ApiTags('machine')
@Does('accept-check')
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
  check(@Req() request: CheckRequest): Promise<CheckAnswer> {
    const { keyHash } = callerOf(request) as PresentedCredential;
    return this.commands.execute(new AcceptMachineCheck(keyHash, saidBy(checked(request.body) as CheckBody)));
  }
}
