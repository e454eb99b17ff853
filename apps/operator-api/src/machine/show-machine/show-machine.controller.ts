import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import type { MachineDetail } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { WANTED_MACHINE } from '../wanted-machine.js';
import { OwnedPromises } from '../../promise/owned-promises.js';
import { OlderUses } from '../older-uses.js';
import { OwnedMachines } from '../owned-machines.js';
import { MachineDetailDto } from './show-machine.dto.js';

@ApiTags('machines')
@Does('show-machine')
@Controller('v1/machines/:machine')
export class ShowMachineController {
  constructor(
    private readonly machines: OwnedMachines,
    private readonly promises: OwnedPromises,
    private readonly olderUses: OlderUses,
  ) {}

  /** Everything about one machine. */
  @Get()
  @ApiParam(WANTED_MACHINE)
  @ApiOkResponse({ type: MachineDetailDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'machine-not-found', 'name-ambiguous', 'unavailable')
  async showMachine(@Caller() { owner }: Acting, @Param('machine') wanted: string): Promise<MachineDetail> {
    const found = await this.machines.find(wanted, owner);
    const [promise, olderUse] = await Promise.all([this.promises.of(found), this.olderUses.of(found.machine.id)]);
    return { ...found, promise, olderUse };
  }
}
