import { Body, Controller, Header, HttpCode, Post, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiConsumes, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { instantOf } from '@rollcall/decider';
import { Clock } from '@rollcall/lifetimes';
import { Does, FORM_MEDIA_TYPE, TakesForm, TOLERANT_BODY } from '@rollcall/nest-platform';
import type { TokenAnswer } from '@rollcall/wire';
import { ApiOauthErrors, OauthErrors } from '../../http/oauth-errors.js';
import { RedeemLogin } from './redeem-login.command.js';
import { TokenAnswerDto, TokenDto } from './redeem-login.dto.js';

@ApiTags('sessions')
@Does('redeem-login')
@Controller('v1/token')
export class RedeemLoginController {
  constructor(
    private readonly commands: CommandBus,
    private readonly clock: Clock,
  ) {}

  /** Answers the session of a program whose short code a person approved, once (RFC 8628). */
  @Post()
  @HttpCode(200)
  @TakesForm()
  @UseFilters(OauthErrors)
  @Header('cache-control', 'no-store')
  @ApiConsumes(FORM_MEDIA_TYPE, 'application/json')
  @ApiOkResponse({ type: TokenAnswerDto })
  @ApiOauthErrors(
    'authorization_pending',
    'slow_down',
    'access_denied',
    'expired_token',
    'invalid_request',
    'unsupported_grant_type',
  )
  async redeemLogin(@Body(TOLERANT_BODY) { device_code }: TokenDto): Promise<TokenAnswer> {
    const { session, expiresAt, person } = await this.commands.execute(new RedeemLogin(device_code));
    const left = Math.max(0, Math.round((instantOf(expiresAt) - this.clock.wall()) / 1_000));
    return { access_token: session, token_type: 'Bearer', expires_in: left, expires_at: expiresAt, person };
  }
}
