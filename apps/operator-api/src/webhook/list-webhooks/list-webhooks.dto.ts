import { ApiProperty } from '@nestjs/swagger';
import type { WebhookList, WebhookView } from '@rollcall/wire';
import { AsOfDto } from '../../machine/machine.dto.js';
import { WebhookTermsDto } from '../webhook.dto.js';

const REASONS = ['person', 'failing', 'gone'] as const;

class PausedWebhookDto {
  @ApiProperty({
    enum: REASONS,
    description: '`failing`: its last attempts failed, and it is tried now and then; `gone`: it answered 410.',
  })
  reason!: (typeof REASONS)[number];

  @ApiProperty({ format: 'date-time' })
  since!: string;
}

class WebhookDto extends WebhookTermsDto implements WebhookView {
  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ type: PausedWebhookDto, nullable: true, description: 'null: it is sent to.' })
  paused!: PausedWebhookDto | null;

  @ApiProperty({ type: 'integer', description: 'Attempts that failed in a row.' })
  failures!: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  failingSince!: string | null;

  @ApiProperty({ type: 'integer', description: 'Deliveries that are still to be made.' })
  waiting!: number;
}

export class WebhookListDto extends AsOfDto implements WebhookList {
  @ApiProperty({ type: [WebhookDto] })
  webhooks!: readonly WebhookDto[];

  @ApiProperty({ type: String, nullable: true, description: 'Why nothing can be sent at all; null: it can.' })
  problem!: string | null;
}
