import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { Refusal } from '@rollcall/decider';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import { ReadinessQueries } from '@rollcall/read-models';
import type { Readiness } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { OwnedMachines } from '../owned-machines.js';
import { WANTED_MACHINE } from '../wanted-machine.js';
import { ReadinessDto, ShowReadinessDto } from './show-readiness.dto.js';

@ApiTags('readiness')
@Does('show-readiness')
@Controller('v1/machines/:machine/readiness')
export class ShowReadinessController {
  constructor(
    private readonly machines: OwnedMachines,
    private readonly readiness: ReadinessQueries,
  ) {}

  /** What has kept a machine from taking work, the newest first, and for how long; also of one that was deleted. */
  @Get()
  @ApiParam(WANTED_MACHINE)
  @ApiOkResponse({ type: ReadinessDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'machine-not-found', 'name-ambiguous', 'invalid-body', 'unavailable')
  async showReadiness(
    @Caller() { owner }: Acting,
    @Param('machine') wanted: string,
    @Query(STRICT_BODY) page: ShowReadinessDto,
  ): Promise<Readiness> {
    const readiness = await this.readiness.of(await this.machines.idOf(wanted, owner), page);
    // Recorded, but the read model has not come to it yet.
    if (!readiness) throw new Refusal('machine-not-found');
    return readiness;
  }
}
