import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Conditional, Does, STRICT_BODY } from '@rollcall/nest-platform';
import { MachineQueries } from '@rollcall/read-models';
import type { MachineList } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { MachineFilterDto, whichMachines } from '../machine-filter.dto.js';
import { MachineListDto } from './list-machines.dto.js';

@ApiTags('machines')
@Does('list-machines')
@Controller('v1/machines')
export class ListMachinesController {
  constructor(private readonly machines: MachineQueries) {}

  /** A page of the machines that are the caller's, by id, 100 of them unless `limit` says otherwise. `GET /v1/presence` counts the same ones. */
  @Get()
  @Conditional()
  @ApiOkResponse({ type: MachineListDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'invalid-body', 'unavailable')
  listMachines(@Caller() { owner }: Acting, @Query(STRICT_BODY) query: MachineFilterDto): Promise<MachineList> {
    return this.machines.list(whichMachines(query, owner));
  }
}
