import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { ProviderRedirect } from '@rollcall/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '../../access/person-authenticator.js';
import { IdentityProvider } from '../identity-provider.js';
import { leaveFor } from '../leaving.js';
import { ProviderRedirectDto, ProviderSignInDto } from '../provider-redirect.dto.js';

@ApiTags('sessions')
@Does('link-account')
@Controller('v1/accounts/link')
export class LinkAccountController {
  constructor(private readonly provider: IdentityProvider) {}

  /**
   * Begins a sign-in at the identity provider whose account becomes one of the caller. Asked for by our own page with a fresh session: another page
   * could have signed this browser in at the provider as somebody else, who would then be the caller.
   */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ type: ProviderRedirectDto })
  @ApiProblems('not-signed-in', 'session-not-fresh', 'not-found', 'provider-away', 'invalid-body')
  linkAccount(
    @Caller() { sessionId }: SignedIn,
    @Body(STRICT_BODY) { returnTo }: ProviderSignInDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ProviderRedirect> {
    return leaveFor(this.provider, request, reply, { returnTo, linksTo: sessionId });
  }
}
