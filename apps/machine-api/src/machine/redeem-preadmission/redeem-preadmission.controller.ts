import { Body, Controller, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, TOLERANT_BODY } from '@rollcall/nest-platform';
import { hashOf, type EnrolmentAnswer } from '@rollcall/wire';
import { wholeReportFrom } from '../display-fields.js';
import { EnrolInstallation } from '../enrol/enrol.command.js';
import { EnrolmentAnswerDto } from '../enrol/enrol.dto.js';
import type { PresentedCredential } from '../presented-credential.js';
import { RedeemPreadmissionDto } from './redeem-preadmission.dto.js';

@ApiTags('machine')
@Does('redeem-preadmission')
@Controller('v1/preadmissions/redeem')
export class RedeemPreadmissionController {
  constructor(private readonly commands: CommandBus) {}

  /** Admits the machine whose credential a person registered beforehand. The same credential again gets the same machine, as long as that exists. */
  @Post()
  @ApiCreatedResponse({ type: EnrolmentAnswerDto, description: 'A new machine.' })
  @ApiOkResponse({ type: EnrolmentAnswerDto, description: 'The machine that this installation is already.' })
  @ApiProblems(
    'credential-unknown',
    'token-refused',
    'identifier-in-use',
    'invalid-body',
    'malformed-body',
    'too-large',
    'unsupported-type',
    'unavailable',
  )
  async redeem(
    @Caller() { keyHash }: PresentedCredential,
    @Body(TOLERANT_BODY) { identifier, profile }: RedeemPreadmissionDto,
    @Res({ passthrough: true }) reply: { code(status: number): unknown },
  ): Promise<EnrolmentAnswer> {
    const identifierHash = hashOf(identifier.toLowerCase());
    const { created, answer } = await this.commands.execute(
      new EnrolInstallation(null, identifierHash, keyHash, wholeReportFrom(profile)),
    );
    reply.code(created ? 201 : 200);
    return answer;
  }
}
