import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { Refusal } from '@rollcall/decider';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import { HistoryQueries, plainly } from '@rollcall/read-models';
import type { History } from '@rollcall/wire';
import type { Automation } from '../../access/automation-authenticator.js';
import type { SignedIn } from '../../access/person-authenticator.js';
import { WANTED_MACHINE } from '../wanted-machine.js';
import { OwnedMachines } from '../owned-machines.js';
import { HistoryDto, ShowHistoryDto } from './show-history.dto.js';

@ApiTags('machines')
@Does('show-history')
@Controller('v1/machines/:machine/history')
export class ShowHistoryController {
  constructor(
    private readonly machines: OwnedMachines,
    private readonly history: HistoryQueries,
  ) {}

  /** The newest lines of a machine's history in the order in which they happened; also of one that was deleted. */
  @Get()
  @ApiParam(WANTED_MACHINE)
  @ApiOkResponse({ type: HistoryDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'machine-not-found', 'name-ambiguous', 'invalid-body', 'unavailable')
  async showHistory(
    @Caller() caller: SignedIn | Automation,
    @Param('machine') wanted: string,
    @Query(STRICT_BODY) { limit = 200 }: ShowHistoryDto,
  ): Promise<History> {
    const id = await this.machines.idOf(wanted, caller.owner);
    const history = await this.history.of(id, {
      limit,
      order: 'newest-first',
      nameOf: (actor) =>
        caller.kind === 'person' && actor.kind === 'person' && actor.id === caller.id ? caller.name : plainly(actor),
    });
    // Recorded, but the read model has not come to it yet.
    if (!history) throw new Refusal('machine-not-found');
    return { ...history, entries: history.entries.toReversed() };
  }
}
