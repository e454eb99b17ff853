import { Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { CODE_FLOOR_MS } from '@rollcall/admission';
import { Clock, notBefore } from '@rollcall/lifetimes';
import { ApiProblems, Does, TOLERANT_BODY } from '@rollcall/nest-platform';
import type { EnrolmentAnswer } from '@rollcall/wire';
import { EnrolmentAnswerDto } from '../../machine/enrol/enrol.dto.js';
import { RedeemShortCode } from './redeem-code.command.js';
import { RedeemCodeDto } from './redeem-code.dto.js';

@ApiTags('machine')
@Does('redeem-code')
@Controller('v1/codes/redeem')
export class RedeemCodeController {
  constructor(
    private readonly commands: CommandBus,
    private readonly clock: Clock,
  ) {}

  /** Admits the installation once a person has approved its code, and answers that once (O12). */
  @Post()
  @ApiCreatedResponse({ type: EnrolmentAnswerDto, description: 'A new machine.' })
  @ApiProblems(
    'code-pending',
    'code-refused',
    'slow-down',
    'identifier-in-use',
    'invalid-body',
    'malformed-body',
    'too-large',
    'unsupported-type',
    'unavailable',
  )
  redeem(@Body(TOLERANT_BODY) { deviceCode }: RedeemCodeDto): Promise<EnrolmentAnswer> {
    return notBefore(this.clock, CODE_FLOOR_MS, () => this.commands.execute(new RedeemShortCode(deviceCode)));
  }
}
