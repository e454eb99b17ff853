import { ApiProperty } from '@nestjs/swagger';
import { SUBSCRIBABLE } from '@rollcall/webhook-endpoint';
import type { WebhookAnswer, WebhookCommandRequest, WebhookEvent } from '@rollcall/wire';
import { IsComparedId } from '../access/compared-id.js';

/** How a path names a webhook, for the documentation of its parameter. */
export const WEBHOOK_ID = { name: 'webhook', description: 'Its id.', type: String, format: 'uuid' } as const;

export class WebhookCommandDto implements WebhookCommandRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  // It becomes the id of a webhook.
  @IsComparedId()
  commandId!: string;
}

class DecidedWebhookDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ description: 'By a person.' })
  paused!: boolean;

  @ApiProperty()
  removed!: boolean;
}

export class WebhookAnswerDto implements WebhookAnswer {
  @ApiProperty()
  webhook!: DecidedWebhookDto;
}

/** What is said of a webhook wherever it is shown. */
export class WebhookTermsDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ description: 'The host of its address; the rest is shown to nobody.' })
  host!: string;

  @ApiProperty({ enum: SUBSCRIBABLE, isArray: true })
  events!: readonly WebhookEvent[];

  @ApiProperty({ description: 'Of silences, only those that break a promise.' })
  promisedOnly!: boolean;
}

export const SECRET = {
  description: '`whsec_` and base64, as Standard Webhooks has it. Shown here and never again.',
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
} as const;
