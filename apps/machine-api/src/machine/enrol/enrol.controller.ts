import { Body, Controller, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Does, TOLERANT_BODY } from '@rollcall/nest-platform';
import { hashOf, type EnrolmentAnswer } from '@rollcall/wire';
import { wholeReportFrom } from '../display-fields.js';
import { EnrolInstallation } from './enrol.command.js';
import { EnrolmentAnswerDto, EnrolmentDto } from './enrol.dto.js';

@ApiTags('machine')
@Does('enrol')
@Controller('v1/enrolments')
export class EnrolController {
  constructor(private readonly commands: CommandBus) {}

  /** Redeems an enrolment token. The same installation with the same token again gets the same machine, as long as that exists. */
  @Post()
  @ApiCreatedResponse({ type: EnrolmentAnswerDto, description: 'A new machine.' })
  @ApiOkResponse({ type: EnrolmentAnswerDto, description: 'The machine that this installation is already.' })
  @ApiProblems(
    'token-refused',
    'identifier-in-use',
    'invalid-body',
    'malformed-body',
    'too-large',
    'unsupported-type',
    'unavailable',
  )
  async enrol(
    @Body(TOLERANT_BODY) { token, identifier, credentialHash, profile }: EnrolmentDto,
    @Res({ passthrough: true }) reply: { code(status: number): unknown },
  ): Promise<EnrolmentAnswer> {
    const identifierHash = hashOf(identifier.toLowerCase());
    const { created, answer } = await this.commands.execute(
      new EnrolInstallation(token, identifierHash, credentialHash, wholeReportFrom(profile)),
    );
    reply.code(created ? 201 : 200);
    return answer;
  }
}
