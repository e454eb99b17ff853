import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ProviderRedirect, ProviderSignInRequest } from '@rollcall/wire';
import { IsOptional, IsString, MaxLength } from 'class-validator';

export class ProviderSignInDto implements ProviderSignInRequest {
  @ApiPropertyOptional({ description: 'The path of the page to come back to. (Default: /)', maxLength: 200 })
  @IsOptional()
  @IsString()
  @MaxLength(200)
  returnTo?: string;
}

export class ProviderRedirectDto implements ProviderRedirect {
  @ApiProperty({ format: 'uri', description: 'Where the browser is to go now.' })
  location!: string;
}
