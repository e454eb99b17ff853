import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { SUBSCRIBABLE } from '@rollcall/webhook-endpoint';
import type { AddWebhookAnswer, AddWebhookRequest, WebhookEvent } from '@rollcall/wire';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsBoolean, IsIn, IsOptional, IsString, Length } from 'class-validator';
import { SECRET, WebhookCommandDto, WebhookTermsDto } from '../webhook.dto.js';

const LONGEST_URL = 2_000;

export class AddWebhookDto extends WebhookCommandDto implements AddWebhookRequest {
  @ApiProperty({ description: 'Where to send: https. Kept sealed.', maxLength: LONGEST_URL })
  @IsString()
  @Length(1, LONGEST_URL)
  url!: string;

  @ApiProperty({ enum: SUBSCRIBABLE, isArray: true, description: 'What to send.' })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(SUBSCRIBABLE.length)
  @IsIn(SUBSCRIBABLE, { each: true })
  events!: WebhookEvent[];

  @ApiPropertyOptional({ default: false, description: 'Of silences, only those that break a promise.' })
  @IsOptional()
  @IsBoolean()
  promisedOnly?: boolean;
}

export class AddWebhookAnswerDto implements AddWebhookAnswer {
  @ApiProperty()
  webhook!: WebhookTermsDto;

  @ApiProperty(SECRET)
  secret!: string;
}
