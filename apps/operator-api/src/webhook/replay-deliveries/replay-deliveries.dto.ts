import { ApiPropertyOptional } from '@nestjs/swagger';
import type { ReplayWebhookRequest } from '@rollcall/wire';
import { IsArray, IsIn, IsISO8601, IsOptional, IsUUID } from 'class-validator';
import { SENT_TYPES } from '../list-deliveries/list-deliveries.dto.js';
import { WebhookCommandDto } from '../webhook.dto.js';

export class ReplayDeliveriesDto extends WebhookCommandDto implements ReplayWebhookRequest {
  @ApiPropertyOptional({ format: 'uuid', description: 'One delivery; without it, those of a time.' })
  @IsOptional()
  @IsUUID()
  eventId?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'When it happened.' })
  @IsOptional()
  @IsISO8601({ strict: true, strictSeparator: true })
  from?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Not included.' })
  @IsOptional()
  @IsISO8601({ strict: true, strictSeparator: true })
  to?: string;

  @ApiPropertyOptional({ enum: SENT_TYPES, isArray: true, description: 'Only these types. (Default: all)' })
  @IsOptional()
  @IsArray()
  @IsIn(SENT_TYPES, { each: true })
  types?: (typeof SENT_TYPES)[number][];
}
