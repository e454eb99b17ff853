import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Allow, ApiProblems, Caller, STRICT_BODY } from '@rollcall/nest-platform';
import { MachineQueries } from '@rollcall/read-models';
import type { MachineList } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { ListMachinesDto, MachineListDto } from './list-machines.dto.js';

@ApiTags('machines')
@Allow('person')
@Controller('v1/machines')
export class ListMachinesController {
  constructor(private readonly machines: MachineQueries) {}

  /** A page of the machines that are the caller's, by id. */
  @Get()
  @ApiOkResponse({ type: MachineListDto })
  @ApiProblems('not-signed-in', 'invalid-body', 'unavailable')
  listMachines(@Caller() { id }: SignedIn, @Query(STRICT_BODY) query: ListMachinesDto): Promise<MachineList> {
    const { deleted, blocked, ...rest } = query;
    return this.machines.list({ ...rest, owner: id, includeDeleted: deleted === 'true', blocked: blocked === 'true' });
  }
}
