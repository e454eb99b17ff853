import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import type { PersonList } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { AddedPeople } from '../added-people.js';
import { PersonListDto } from './list-people.dto.js';

@ApiTags('people')
@Does('list-people')
@Controller('v1/people')
export class ListPeopleController {
  constructor(private readonly people: AddedPeople) {}

  /** The caller, and those whom the caller has added. */
  @Get()
  @ApiOkResponse({ type: PersonListDto })
  @ApiProblems('not-signed-in', 'unavailable')
  async listPeople(@Caller() { id }: SignedIn): Promise<PersonList> {
    const added = await this.people.addedBy(id);
    return { people: await Promise.all([id, ...added].map((each) => this.people.named(each))) };
  }
}
