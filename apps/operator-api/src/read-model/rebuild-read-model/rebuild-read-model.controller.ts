import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiTags } from '@nestjs/swagger';
import { Refusal } from '@rollcall/decider';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import { ReadModelQueries } from '@rollcall/read-models';
import type { RebuildAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { AddedPeople } from '../../people/added-people.js';
import { RebuildAnswerDto } from './rebuild-read-model.dto.js';

@ApiTags('read models')
@Does('rebuild-read-model')
@Controller('v1/read-models/:name/rebuild')
export class RebuildReadModelController {
  constructor(
    private readonly readModels: ReadModelQueries,
    private readonly people: AddedPeople,
  ) {}

  /**
   * Asks for a read model to be emptied and made again from the record (U7). Nothing is decided, so nothing is recorded. Everybody's answers are
   * old meanwhile, so only whoever runs the plane may.
   */
  @Post()
  @HttpCode(202)
  @ApiAcceptedResponse({ type: RebuildAnswerDto })
  @ApiProblems('not-signed-in', 'not-the-first-person', 'read-model-not-found', 'unavailable')
  async rebuildReadModel(@Caller() { id }: SignedIn, @Param('name') name: string): Promise<RebuildAnswer> {
    if (!(await this.people.isFirst(id))) throw new Refusal('not-the-first-person');
    if (!(await this.readModels.requestRebuild(name))) throw new Refusal('read-model-not-found');
    return { name, rebuilding: true };
  }
}
