import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { WebhookAnswer } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { ChangeOwnedWebhook } from '../change-webhook/change-webhook.command.js';
import { WEBHOOK_ID, WebhookAnswerDto, WebhookCommandDto } from '../webhook.dto.js';

@ApiTags('webhooks')
@Does('resume-webhook')
@Controller('v1/webhooks/:webhook/resume')
export class ResumeWebhookController {
  constructor(private readonly commands: CommandBus) {}

  /** Sends to it again, whether a person or its own failures had stopped it; what waits goes out. */
  @Post()
  @HttpCode(200)
  @ApiParam(WEBHOOK_ID)
  @ApiOkResponse({ type: WebhookAnswerDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'webhook-not-found', 'invalid-body', 'unavailable')
  resumeWebhook(
    @Caller() by: Acting,
    @Param('webhook') webhook: string,
    @Body(STRICT_BODY) { commandId }: WebhookCommandDto,
  ): Promise<WebhookAnswer> {
    return this.commands.execute(new ChangeOwnedWebhook(by, commandId, webhook, { type: 'ResumeWebhookEndpoint' }));
  }
}
