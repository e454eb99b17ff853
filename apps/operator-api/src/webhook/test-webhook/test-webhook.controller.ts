import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiAcceptedResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { WebhookAnswer } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { ChangeOwnedWebhook } from '../change-webhook/change-webhook.command.js';
import { WEBHOOK_ID, WebhookAnswerDto, WebhookCommandDto } from '../webhook.dto.js';

@ApiTags('webhooks')
@Does('test-webhook')
@Controller('v1/webhooks/:webhook/test')
export class TestWebhookController {
  constructor(private readonly commands: CommandBus) {}

  /** Sends it a notice of the type `webhook.test`; what becomes of it is among its deliveries. */
  @Post()
  @HttpCode(202)
  @ApiParam(WEBHOOK_ID)
  @ApiAcceptedResponse({ type: WebhookAnswerDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'webhook-not-found', 'invalid-body', 'unavailable')
  testWebhook(
    @Caller() by: Acting,
    @Param('webhook') webhook: string,
    @Body(STRICT_BODY) { commandId }: WebhookCommandDto,
  ): Promise<WebhookAnswer> {
    return this.commands.execute(new ChangeOwnedWebhook(by, commandId, webhook, { type: 'TestWebhookEndpoint' }));
  }
}
