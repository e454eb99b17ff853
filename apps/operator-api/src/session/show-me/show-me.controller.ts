import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import type { MeAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { MeDto } from './show-me.dto.js';

@ApiTags('sessions')
@Does('show-me')
@Controller('v1/me')
export class ShowMeController {
  /** Whose session it is. */
  @Get()
  @ApiOkResponse({ type: MeDto })
  @ApiProblems('not-signed-in')
  showMe(@Caller() { id, name, sessionExpiresAt }: SignedIn): MeAnswer {
    return { person: { id, name }, expiresAt: sessionExpiresAt };
  }
}
