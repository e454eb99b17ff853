import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EventStore } from '@rollcall/event-store';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import { nodeOf } from '@rollcall/promise-book';
import { isPromised } from '@rollcall/promises';
import { MachineQueries } from '@rollcall/read-models';
import type { PromiseList } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { OwnedPromises } from '../owned-promises.js';
import { PromiseListDto } from './list-promises.dto.js';

@ApiTags('promises')
@Does('list-promises')
@Controller('v1/promises')
export class ListPromisesController {
  constructor(
    private readonly promises: OwnedPromises,
    private readonly machines: MachineQueries,
    private readonly store: EventStore,
  ) {}

  /** What the caller has promised of machines and of labels. */
  @Get()
  @ApiOkResponse({ type: PromiseListDto })
  @ApiProblems('not-signed-in', 'unavailable')
  async listPromises(@Caller() { id }: SignedIn): Promise<PromiseList> {
    const [promises, { recordedAt: now }] = await Promise.all([this.promises.all(id), this.store.newest()]);
    const nodes = Object.keys(promises).flatMap((selector) => nodeOf(selector) ?? []);
    const machines = await this.machines.ofNodes(nodes, id);
    return {
      promises: Object.entries(promises)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([selector, schedule]) => ({
          selector,
          schedule,
          machine: machines.get(nodeOf(selector) ?? '') ?? null,
          promisedNow: isPromised({ selectors: [selector], schedules: [schedule] }, now),
        })),
    };
  }
}
