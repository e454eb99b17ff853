import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import type { LogTailView } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { WANTED_MACHINE } from '../wanted-machine.js';
import { LogTailViewDto } from './show-log-tail.dto.js';
import { UploadedLogTail } from './uploaded-log-tail.js';

@ApiTags('machines')
@Does('show-log-tail')
@Controller('v1/machines/:machine/log-tail')
export class ShowLogTailController {
  constructor(private readonly uploaded: UploadedLogTail) {}

  /** The newest tail of its log that a machine uploaded, and whether another one is asked for. */
  @Get()
  @ApiParam(WANTED_MACHINE)
  @ApiOkResponse({ type: LogTailViewDto })
  @ApiProblems('not-signed-in', 'machine-not-found', 'name-ambiguous', 'unavailable')
  showLogTail(@Caller() { id }: SignedIn, @Param('machine') wanted: string): Promise<LogTailView> {
    return this.uploaded.of(wanted, id);
  }
}
