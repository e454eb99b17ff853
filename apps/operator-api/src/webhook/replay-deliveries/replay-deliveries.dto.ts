import { ApiPropertyOptional } from '@nestjs/swagger';
import type { ReplayWebhookRequest } from '@rollcall/wire';
import { IsArray, IsIn, IsOptional } from 'class-validator';
import { IsComparedId } from '../../access/compared-id.js';
import { IsPointInTime } from '../../access/point-in-time.js';
import { SENT_TYPES } from '../list-deliveries/list-deliveries.dto.js';
import { WebhookCommandDto } from '../webhook.dto.js';

export class ReplayDeliveriesDto extends WebhookCommandDto implements ReplayWebhookRequest {
  @ApiPropertyOptional({ format: 'uuid', description: 'One delivery; without it, those of a time.' })
  @IsOptional()
  @IsComparedId()
  eventId?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'When it happened.' })
  @IsOptional()
  @IsPointInTime()
  from?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Not included.' })
  @IsOptional()
  @IsPointInTime()
  to?: string;

  @ApiPropertyOptional({ enum: SENT_TYPES, isArray: true, description: 'Only these types. (Default: all)' })
  @IsOptional()
  @IsArray()
  @IsIn(SENT_TYPES, { each: true })
  types?: (typeof SENT_TYPES)[number][];
}
