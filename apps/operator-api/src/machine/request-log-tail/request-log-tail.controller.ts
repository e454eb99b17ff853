import { Body, Controller, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { LogTailRequestAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { WANTED_MACHINE } from '../wanted-machine.js';
import { RequestOwnedLogTail } from './request-log-tail.command.js';
import { LogTailRequestAnswerDto, RequestLogTailDto } from './request-log-tail.dto.js';

@ApiTags('machines')
@Does('request-log-tail')
@Controller('v1/machines/:machine/log-tail-requests')
export class RequestLogTailController {
  constructor(private readonly commands: CommandBus) {}

  /** Asks a machine for the tail of its log. It uploads it after its next check; while it is stopped, the request waits (O26). */
  @Post()
  @ApiParam(WANTED_MACHINE)
  @ApiCreatedResponse({ type: LogTailRequestAnswerDto })
  @ApiProblems('not-signed-in', 'machine-not-found', 'name-ambiguous', 'invalid-body', 'unavailable')
  requestLogTail(
    @Caller() { id }: SignedIn,
    @Param('machine') wanted: string,
    @Body(STRICT_BODY) { commandId }: RequestLogTailDto,
  ): Promise<LogTailRequestAnswer> {
    return this.commands.execute(new RequestOwnedLogTail(id, commandId, wanted));
  }
}
