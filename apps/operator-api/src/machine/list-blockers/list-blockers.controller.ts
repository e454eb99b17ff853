import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import { ReadinessQueries } from '@rollcall/read-models';
import type { BlockerList } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { BlockerListDto, ListBlockersDto } from './list-blockers.dto.js';

@ApiTags('readiness')
@Does('list-blockers')
@Controller('v1/blockers')
export class ListBlockersController {
  constructor(private readonly readiness: ReadinessQueries) {}

  /** What stands now on the machines that are the caller's, what it means, and who can fix it. */
  @Get()
  @ApiOkResponse({ type: BlockerListDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'invalid-body', 'unavailable')
  listBlockers(@Caller() { owner }: Acting, @Query(STRICT_BODY) { all }: ListBlockersDto): Promise<BlockerList> {
    return this.readiness.blockers({ owner, all: all === 'true' });
  }
}
