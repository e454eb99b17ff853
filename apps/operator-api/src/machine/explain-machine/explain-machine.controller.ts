import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { Refusal } from '@rollcall/decider';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import { WhyQueries } from '@rollcall/read-models';
import type { Why } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { OwnedMachines } from '../owned-machines.js';
import { WANTED_MACHINE } from '../wanted-machine.js';
import { ExplainMachineDto, WhyDto } from './explain-machine.dto.js';

@ApiTags('machines')
@Does('explain-machine')
@Controller('v1/machines/:machine/why')
export class ExplainMachineController {
  constructor(
    private readonly machines: OwnedMachines,
    private readonly explanations: WhyQueries,
  ) {}

  /** Why a machine is what it is, or was at a time of the past, in one sentence, with what that rests on (B5). */
  @Get()
  @ApiParam(WANTED_MACHINE)
  @ApiOkResponse({ type: WhyDto })
  @ApiProblems(
    'not-signed-in',
    'machine-not-found',
    'name-ambiguous',
    'time-not-recorded',
    'not-admitted-then',
    'invalid-body',
    'unavailable',
  )
  async explainMachine(
    @Caller() { owner }: Acting,
    @Param('machine') wanted: string,
    @Query(STRICT_BODY) { at }: ExplainMachineDto,
  ): Promise<Why> {
    const id = await this.machines.idOf(wanted, owner);
    const why = await this.explanations.of(id, at === undefined ? null : Date.parse(at));
    if ('refused' in why) throw new Refusal(why.refused, { detail: why.detail });
    return why;
  }
}
