import { Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { PersonAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { PersonAnswerDto } from '../person-link.dto.js';
import { AddSomebody } from './add-person.command.js';
import { AddPersonDto } from './add-person.dto.js';

@ApiTags('people')
@Does('add-person')
@Controller('v1/people')
export class AddPersonController {
  constructor(private readonly commands: CommandBus) {}

  /** Lets somebody use this plane, with machines of their own, and registers a link with which they sign in once. */
  @Post()
  @ApiCreatedResponse({ type: PersonAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'session-not-fresh',
    'not-the-first-person',
    'too-many-people',
    'invalid-body',
    'unavailable',
  )
  async addPerson(
    @Caller() { id }: SignedIn,
    @Body(STRICT_BODY) { commandId, name, linkHash }: AddPersonDto,
  ): Promise<PersonAnswer> {
    return { person: await this.commands.execute(new AddSomebody(id, commandId, name, linkHash)) };
  }
}
