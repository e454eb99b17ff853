import { Body, Controller, Header, HttpCode, Post, Req, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiConsumes, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CODE_LIFE_SECONDS, POLL } from '@rollcall/admission';
import { cleanDisplay } from '@rollcall/machine';
import { Does, FORM_MEDIA_TYPE, TakesForm, TOLERANT_BODY } from '@rollcall/nest-platform';
import type { DeviceAuthorizationAnswer } from '@rollcall/wire';
import type { FastifyRequest } from 'fastify';
import { ApiOauthErrors, OauthErrors } from '../../http/oauth-errors.js';
import { BeginLogin } from './request-login.command.js';
import { DeviceAuthorizationAnswerDto, DeviceAuthorizationDto } from './request-login.dto.js';

/** Code points of what a program says of itself. */
const LENGTHS = { client: 64, device: 253, platform: 64 };

@ApiTags('sessions')
@Does('request-login')
@Controller('v1/device-authorization')
export class RequestLoginController {
  constructor(private readonly commands: CommandBus) {}

  /** Makes a short code with which a program signs in once a person has typed it in a browser (RFC 8628). No address fills it in. */
  @Post()
  @HttpCode(200)
  @TakesForm()
  @UseFilters(OauthErrors)
  @Header('cache-control', 'no-store')
  @ApiConsumes(FORM_MEDIA_TYPE, 'application/json')
  @ApiOkResponse({ type: DeviceAuthorizationAnswerDto })
  @ApiOauthErrors('invalid_request')
  async requestLogin(
    @Body(TOLERANT_BODY) { client_id, device_name, device_platform }: DeviceAuthorizationDto,
    @Req() { host, protocol }: FastifyRequest,
  ): Promise<DeviceAuthorizationAnswer> {
    const claims = {
      client: cleanDisplay(client_id, LENGTHS.client),
      device: cleanDisplay(device_name, LENGTHS.device),
      platform: cleanDisplay(device_platform, LENGTHS.platform),
    };
    const { userCode, deviceCode } = await this.commands.execute(new BeginLogin(claims));
    return {
      device_code: deviceCode,
      user_code: userCode,
      // By the name under which it was asked: whoever lies about that, lies to themselves.
      verification_uri: `${protocol}://${host}/device`,
      expires_in: CODE_LIFE_SECONDS,
      interval: POLL.interval,
    };
  }
}
