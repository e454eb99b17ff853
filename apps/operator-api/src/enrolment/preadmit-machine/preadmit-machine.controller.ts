import { Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { PreadmitAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { IssueEnrolmentToken, TOKEN_LIFE_SECONDS } from '../issue-token/issue-token.command.js';
import { PreadmitAnswerDto, PreadmitDto } from './preadmit-machine.dto.js';

@ApiTags('enrolment')
@Does('preadmit-machine')
@Controller('v1/preadmissions')
export class PreadmitMachineController {
  constructor(private readonly commands: CommandBus) {}

  /**
   * Registers the credential of a machine to come, which the caller made and hands to that machine, as over SSH (O3). What holds for an
   * enrolment token holds for it: it admits once, it expires, and one for a node deletes the node's machine that lives (N19).
   */
  @Post()
  @ApiCreatedResponse({ type: PreadmitAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'session-not-fresh',
    'invalid-body',
    'token-refused',
    'machine-not-found',
    'name-ambiguous',
    'unavailable',
  )
  async preadmit(@Caller() person: SignedIn, @Body(STRICT_BODY) body: PreadmitDto): Promise<PreadmitAnswer> {
    const { commandId, credentialHash, name = null, node = null, expiresIn = TOKEN_LIFE_SECONDS } = body;
    const { token: preadmission, ...rest } = await this.commands.execute(
      new IssueEnrolmentToken(person, commandId, { hash: credentialHash, preadmits: true }, name, node, expiresIn),
    );
    return { preadmission, ...rest };
  }
}
