import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Conditional, Does, STRICT_BODY } from '@rollcall/nest-platform';
import { MachineQueries } from '@rollcall/read-models';
import type { PresenceAnswer } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { MachineFilterDto, whichMachines } from '../../machine/machine-filter.dto.js';
import { PresenceAnswerDto } from './count-machines.dto.js';

@ApiTags('presence')
@Does('count-machines')
@Controller('v1/presence')
export class CountMachinesController {
  constructor(private readonly machines: MachineQueries) {}

  /**
   * How many of the machines that are the caller's are what. The filters are those of `GET /v1/machines`, and each counts: what is counted is
   * exactly what that route lists. With `limit`, `page` is what it answers to the same query, of the same moment as the counts; its `next` is for
   * `after` here or there. Without, no machine is named, whatever their number.
   */
  @Get()
  @Conditional()
  @ApiOkResponse({ type: PresenceAnswerDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'invalid-body', 'unavailable')
  countMachines(@Caller() { owner }: Acting, @Query(STRICT_BODY) query: MachineFilterDto): Promise<PresenceAnswer> {
    return this.machines.count(whichMachines(query, owner));
  }
}
