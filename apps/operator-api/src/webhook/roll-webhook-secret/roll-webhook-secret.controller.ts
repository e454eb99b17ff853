import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { RollWebhookSecretAnswer } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { WEBHOOK_ID, WebhookCommandDto } from '../webhook.dto.js';
import { RollOwnedWebhookSecret } from './roll-webhook-secret.command.js';
import { RollWebhookSecretAnswerDto } from './roll-webhook-secret.dto.js';

@ApiTags('webhooks')
@Does('roll-webhook-secret')
@Controller('v1/webhooks/:webhook/secret')
export class RollWebhookSecretController {
  constructor(private readonly commands: CommandBus) {}

  /** Makes another secret. For 24 hours both sign, so that the receiver can change over. A repetition makes one more. */
  @Post()
  @HttpCode(200)
  @ApiParam(WEBHOOK_ID)
  @ApiOkResponse({ type: RollWebhookSecretAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'scope-missing',
    'webhook-not-found',
    'invalid-body',
    'webhook-key-missing',
    'unavailable',
  )
  rollWebhookSecret(
    @Caller() by: Acting,
    @Param('webhook') webhook: string,
    @Body(STRICT_BODY) { commandId }: WebhookCommandDto,
  ): Promise<RollWebhookSecretAnswer> {
    return this.commands.execute(new RollOwnedWebhookSecret(by, commandId, webhook));
  }
}
