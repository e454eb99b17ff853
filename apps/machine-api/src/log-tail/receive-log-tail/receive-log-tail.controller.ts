import { Body, Controller, Param, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, BYTES_MEDIA_TYPE, bytesOf, Caller, Does, TakesBytes } from '@rollcall/nest-platform';
import type { LogTailReceipt } from '@rollcall/wire';
import type { PresentedCredential } from '../../machine/presented-credential.js';
import { ReceiveMachineLogTail } from './receive-log-tail.command.js';
import { LogTailReceiptDto } from './receive-log-tail.dto.js';

@ApiTags('machine')
@Does('receive-log-tail')
@Controller('v1/log-tails/:stamp')
export class ReceiveLogTailController {
  constructor(private readonly commands: CommandBus) {}

  /** Brings the tail of the log that an answer to a check asked for, under the stamp of that request (O26). */
  @Put()
  @TakesBytes()
  @ApiConsumes(BYTES_MEDIA_TYPE)
  @ApiBody({ schema: { type: 'string', format: 'binary' } })
  @ApiOkResponse({ type: LogTailReceiptDto })
  @ApiProblems(
    'credential-unknown',
    'generation-behind',
    'credential-revoked',
    'request-not-pending',
    'too-large',
    'unsupported-type',
    'slow-down',
    'unavailable',
  )
  receiveLogTail(
    @Caller() { keyHash }: PresentedCredential,
    @Param('stamp') stamp: string,
    @Body() body: unknown,
  ): Promise<LogTailReceipt> {
    return this.commands.execute(new ReceiveMachineLogTail(keyHash, stamp, bytesOf(body)));
  }
}
