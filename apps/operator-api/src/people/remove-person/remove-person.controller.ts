import { Body, Controller, Delete, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { PersonAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { PersonAnswerDto } from '../person-link.dto.js';
import { RemoveSomebody } from './remove-person.command.js';
import { RemovePersonDto } from './remove-person.dto.js';

@ApiTags('people')
@Does('remove-person')
@Controller('v1/people/:person')
export class RemovePersonController {
  constructor(private readonly commands: CommandBus) {}

  /**
   * Ends the sessions, links, accounts and automation tokens of somebody whom the caller has added, and takes them out of all workspaces, in one
   * act and for good. Refused while they own machines that live.
   */
  @Delete()
  @ApiOkResponse({ type: PersonAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'session-not-fresh',
    'person-not-found',
    'first-person-stays',
    'machines-left',
    'invalid-body',
    'unavailable',
  )
  async removePerson(
    @Caller() { id }: SignedIn,
    @Param('person') person: string,
    @Body(STRICT_BODY) { commandId }: RemovePersonDto,
  ): Promise<PersonAnswer> {
    return { person: await this.commands.execute(new RemoveSomebody(id, commandId, person.toLowerCase())) };
  }
}
