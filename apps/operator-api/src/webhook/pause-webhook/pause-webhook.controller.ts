import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { WebhookAnswer } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { ChangeOwnedWebhook } from '../change-webhook/change-webhook.command.js';
import { WEBHOOK_ID, WebhookAnswerDto, WebhookCommandDto } from '../webhook.dto.js';

@ApiTags('webhooks')
@Does('pause-webhook')
@Controller('v1/webhooks/:webhook/pause')
export class PauseWebhookController {
  constructor(private readonly commands: CommandBus) {}

  /** Sends nothing to it until it is resumed; what happens meanwhile waits. */
  @Post()
  @HttpCode(200)
  @ApiParam(WEBHOOK_ID)
  @ApiOkResponse({ type: WebhookAnswerDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'webhook-not-found', 'invalid-body', 'unavailable')
  pauseWebhook(
    @Caller() by: Acting,
    @Param('webhook') webhook: string,
    @Body(STRICT_BODY) { commandId }: WebhookCommandDto,
  ): Promise<WebhookAnswer> {
    return this.commands.execute(new ChangeOwnedWebhook(by, commandId, webhook, { type: 'PauseWebhookEndpoint' }));
  }
}
