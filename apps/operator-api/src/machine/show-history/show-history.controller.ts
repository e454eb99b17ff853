import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { Refusal } from '@rollcall/decider';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import {
  HistoryQueries,
  plainly,
  readReplayPlace,
  refusedUses,
  ReplayQueries,
  withRefusedUses,
  type NameOf,
} from '@rollcall/read-models';
import type { History, HistoryPage } from '@rollcall/wire';
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
    private readonly replay: ReplayQueries,
  ) {}

  /**
   * The newest lines of a machine's history in the order in which they happened, with the refused uses of its credentials since the first of them: of each
   * reason and credential the first and the newest. Or a page of all of it. Also of a machine that was deleted.
   */
  @Get()
  @ApiParam(WANTED_MACHINE)
  @ApiOkResponse({ type: HistoryDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'machine-not-found', 'name-ambiguous', 'invalid-body', 'unavailable')
  async showHistory(
    @Caller() caller: SignedIn | Automation,
    @Param('machine') wanted: string,
    @Query(STRICT_BODY) { limit, after, from, to }: ShowHistoryDto,
  ): Promise<History | HistoryPage> {
    const id = await this.machines.idOf(wanted, caller.owner);
    const nameOf: NameOf = (actor) =>
      caller.kind === 'person' && actor.kind === 'person' && actor.id === caller.id ? caller.name : plainly(actor);
    if (after !== undefined) {
      const page = await this.replay.page(id, {
        after: after === 'start' ? null : readReplayPlace(after),
        from: from === undefined ? null : Date.parse(from),
        to: to === undefined ? null : Date.parse(to),
        ...(limit === undefined ? {} : { limit }),
        nameOf,
      });
      if (!page) throw new Refusal('machine-not-found');
      return page;
    }
    const [history, refused] = await Promise.all([
      this.history.of(id, { limit: limit ?? 200, order: 'newest-first', nameOf }),
      refusedUses(this.replay, id),
    ]);
    // Recorded, but the read model has not come to it yet.
    if (!history) throw new Refusal('machine-not-found');
    return { ...history, entries: withRefusedUses(history.entries.toReversed(), refused) };
  }
}
