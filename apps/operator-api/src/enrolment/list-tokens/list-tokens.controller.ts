import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import type { OpenTokenList } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { OpenTokenListDto } from './list-tokens.dto.js';
import { ShownTokens } from './shown-tokens.js';

@ApiTags('enrolment')
@Does('list-tokens')
@Controller('v1/enrolment-tokens')
export class ListTokensController {
  constructor(private readonly tokens: ShownTokens) {}

  /** The caller's tokens and credentials of machines to come that can still be used. No secret is in the answer. */
  @Get()
  @ApiOkResponse({ type: OpenTokenListDto })
  @ApiProblems('not-signed-in', 'unavailable')
  async listTokens(@Caller() { id }: SignedIn): Promise<OpenTokenList> {
    return { tokens: await this.tokens.of(id) };
  }
}
