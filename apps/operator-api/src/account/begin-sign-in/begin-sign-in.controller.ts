import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { ProviderRedirect } from '@rollcall/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { IdentityProvider } from '../identity-provider.js';
import { leaveFor } from '../leaving.js';
import { ProviderRedirectDto, ProviderSignInDto } from '../provider-redirect.dto.js';

@ApiTags('sessions')
@Does('begin-provider-sign-in')
@Controller('v1/provider/sign-in')
export class BeginSignInController {
  constructor(private readonly provider: IdentityProvider) {}

  /** Begins a sign-in at the identity provider, in this browser. */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ type: ProviderRedirectDto })
  @ApiProblems('not-found', 'provider-away', 'invalid-body')
  beginSignIn(
    @Body(STRICT_BODY) { returnTo }: ProviderSignInDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ProviderRedirect> {
    return leaveFor(this.provider, request, reply, { returnTo, linksTo: null });
  }
}
