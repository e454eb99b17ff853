import { Body, Controller, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { PersonAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { PersonAnswerDto, PersonLinkDto } from '../person-link.dto.js';
import { LetSignIn } from './issue-sign-in-link.command.js';

@ApiTags('people')
@Does('issue-sign-in-link')
@Controller('v1/people/:person/sign-in-links')
export class IssueSignInLinkController {
  constructor(private readonly commands: CommandBus) {}

  /** Registers another link with which somebody whom the caller has added signs in, once, within an hour. */
  @Post()
  @ApiCreatedResponse({ type: PersonAnswerDto })
  @ApiProblems('not-signed-in', 'session-not-fresh', 'person-not-found', 'invalid-body', 'unavailable')
  async issueSignInLink(
    @Caller() { id }: SignedIn,
    @Param('person') person: string,
    @Body(STRICT_BODY) { commandId, linkHash }: PersonLinkDto,
  ): Promise<PersonAnswer> {
    return { person: await this.commands.execute(new LetSignIn(id, commandId, person.toLowerCase(), linkHash)) };
  }
}
