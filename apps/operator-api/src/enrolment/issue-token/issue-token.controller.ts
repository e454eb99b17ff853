import { Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { IssueTokenAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { IssueEnrolmentToken, TOKEN_LIFE_SECONDS } from './issue-token.command.js';
import { IssueTokenAnswerDto, IssueTokenDto } from './issue-token.dto.js';

@ApiTags('enrolment')
@Does('issue-token')
@Controller('v1/enrolment-tokens')
export class IssueTokenController {
  constructor(private readonly commands: CommandBus) {}

  /**
   * Registers the hash of an enrolment token. Only a person may: no other credential admits a machine (O3). One for a node deletes the node's
   * machine that lives, in the same append (N19).
   */
  @Post()
  @ApiCreatedResponse({ type: IssueTokenAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'session-not-fresh',
    'invalid-body',
    'token-refused',
    'machine-not-found',
    'name-ambiguous',
    'unavailable',
  )
  issueToken(@Caller() person: SignedIn, @Body(STRICT_BODY) body: IssueTokenDto): Promise<IssueTokenAnswer> {
    const { commandId, tokenHash, name = null, node = null, expiresIn = TOKEN_LIFE_SECONDS } = body;
    return this.commands.execute(
      new IssueEnrolmentToken(person, commandId, { hash: tokenHash, preadmits: false }, name, node, expiresIn),
    );
  }
}
