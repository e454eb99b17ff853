import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { SUBSCRIBABLE } from '@rollcall/webhook-endpoint';
import { DELIVERY_LIMIT, DELIVERY_PLACE } from '@rollcall/webhooks';
import type { WebhookDeliveryList, WebhookDeliveryView } from '@rollcall/wire';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';

/** What a delivery can be of. */
export const SENT_TYPES = [...SUBSCRIBABLE, 'webhook.test'] as const;
const STATES = ['waiting', 'delivered', 'failed'] as const;

export class ListDeliveriesDto {
  @ApiPropertyOptional({ enum: STATES })
  @IsOptional()
  @IsIn(STATES)
  state?: (typeof STATES)[number];

  @ApiPropertyOptional({ enum: SENT_TYPES })
  @IsOptional()
  @IsIn(SENT_TYPES)
  type?: (typeof SENT_TYPES)[number];

  @ApiPropertyOptional({ description: 'The `next` of the page before.' })
  @IsOptional()
  @Matches(DELIVERY_PLACE, { message: '$property must be the `next` of a page' })
  after?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: DELIVERY_LIMIT, default: 100 })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(DELIVERY_LIMIT)
  limit?: number;
}

class DeliveryDto implements WebhookDeliveryView {
  @ApiProperty({ format: 'uuid', description: 'Of the event: the `webhook-id` of every attempt.' })
  id!: string;

  @ApiProperty({ enum: SENT_TYPES })
  type!: string;

  @ApiProperty({ type: String, format: 'uuid', nullable: true })
  machine!: string | null;

  @ApiProperty({ type: 'integer', description: 'Its place in the order of facts about the machine.' })
  sequence!: number;

  @ApiProperty({ format: 'date-time' })
  occurredAt!: string;

  @ApiProperty({ enum: STATES, description: '`failed`: it was tried for three days, or the webhook is no more.' })
  state!: (typeof STATES)[number];

  @ApiProperty({ type: 'integer' })
  attempts!: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  lastAttemptAt!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'The HTTP status that the receiver answered.' })
  lastStatus!: number | null;

  @ApiProperty({ type: String, nullable: true, description: 'One word of a closed list.' })
  lastOutcome!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  nextAttemptAt!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  deliveredAt!: string | null;
}

export class DeliveryListDto implements WebhookDeliveryList {
  @ApiProperty({ type: [DeliveryDto] })
  deliveries!: readonly DeliveryDto[];

  @ApiProperty({ type: String, nullable: true, description: 'For `after`; null on the last page.' })
  next!: string | null;
}
