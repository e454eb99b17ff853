import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Does } from '@rollcall/nest-platform';
import type { ProviderAnswer } from '@rollcall/wire';
import { IdentityProvider } from '../identity-provider.js';
import { ProviderAnswerDto } from './show-provider.dto.js';

@ApiTags('sessions')
@Does('show-provider')
@Controller('v1/provider')
export class ShowProviderController {
  constructor(private readonly provider: IdentityProvider) {}

  /** Where people can sign in beside links. */
  @Get()
  @ApiOkResponse({ type: ProviderAnswerDto })
  showProvider(): ProviderAnswer {
    const { name } = this.provider;
    return { provider: name === null ? null : { name } };
  }
}
