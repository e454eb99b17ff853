import { Body, Controller, Delete, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { WebhookAnswer } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { ChangeOwnedWebhook } from '../change-webhook/change-webhook.command.js';
import { WEBHOOK_ID, WebhookAnswerDto, WebhookCommandDto } from '../webhook.dto.js';

@ApiTags('webhooks')
@Does('remove-webhook')
@Controller('v1/webhooks/:webhook')
export class RemoveWebhookController {
  constructor(private readonly commands: CommandBus) {}

  /** Removes a webhook: nothing is sent to it any more, and its address and secrets are forgotten. */
  @Delete()
  @ApiParam(WEBHOOK_ID)
  @ApiOkResponse({ type: WebhookAnswerDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'webhook-not-found', 'invalid-body', 'unavailable')
  removeWebhook(
    @Caller() by: Acting,
    @Param('webhook') webhook: string,
    @Body(STRICT_BODY) { commandId }: WebhookCommandDto,
  ): Promise<WebhookAnswer> {
    return this.commands.execute(new ChangeOwnedWebhook(by, commandId, webhook, { type: 'RemoveWebhookEndpoint' }));
  }
}
