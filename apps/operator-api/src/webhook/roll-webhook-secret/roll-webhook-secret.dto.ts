import { ApiProperty } from '@nestjs/swagger';
import type { RollWebhookSecretAnswer } from '@rollcall/wire';
import { SECRET } from '../webhook.dto.js';

class RolledWebhookDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;
}

export class RollWebhookSecretAnswerDto implements RollWebhookSecretAnswer {
  @ApiProperty()
  webhook!: RolledWebhookDto;

  @ApiProperty(SECRET)
  secret!: string;
}
