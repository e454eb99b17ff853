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

  /** The caller, and those whom the caller has added, also those who were removed. */
  @Get()
  @ApiOkResponse({ type: PersonListDto })
  @ApiProblems('not-signed-in', 'unavailable')
  async listPeople(@Caller() { id }: SignedIn): Promise<PersonList> {
    const { added, removed } = await this.people.addedBy(id);
    const shown = [id, ...added, ...removed].map(async (each) => ({
      ...(await this.people.named(each)),
      removed: removed.includes(each),
    }));
    return { people: await Promise.all(shown) };
  }
}
