import { Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Does, TOLERANT_BODY } from '@rollcall/nest-platform';
import { hashOf, type CodeAnswer } from '@rollcall/wire';
import { wholeReportFrom } from '../../machine/display-fields.js';
import { RequestShortCode } from './request-code.command.js';
import { CodeAnswerDto, CodeRequestDto } from './request-code.dto.js';

@ApiTags('machine')
@Does('request-code')
@Controller('v1/codes')
export class RequestCodeController {
  constructor(private readonly commands: CommandBus) {}

  /** Makes a short code that a person can approve within ten minutes. It lets in nobody by itself (O12). */
  @Post()
  @ApiCreatedResponse({ type: CodeAnswerDto })
  @ApiProblems('slow-down', 'invalid-body', 'malformed-body', 'too-large', 'unsupported-type', 'unavailable')
  requestCode(@Body(TOLERANT_BODY) { identifier, credentialHash, profile }: CodeRequestDto): Promise<CodeAnswer> {
    const identifierHash = hashOf(identifier.toLowerCase());
    return this.commands.execute(new RequestShortCode(identifierHash, credentialHash, wholeReportFrom(profile)));
  }
}
