import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiAcceptedResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { WebhookAnswer } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { WEBHOOK_ID, WebhookAnswerDto } from '../webhook.dto.js';
import { ReplayOwnedDeliveries } from './replay-deliveries.command.js';
import { ReplayDeliveriesDto } from './replay-deliveries.dto.js';
import { replayWish } from './replay-wish.js';

@ApiTags('webhooks')
@Does('replay-deliveries')
@Controller('v1/webhooks/:webhook/replay')
export class ReplayDeliveriesController {
  constructor(private readonly commands: CommandBus) {}

  /** Sends again what was sent, under the same `webhook-id`: one delivery by `eventId`, or those of a time (`from`, `to`, `types`). */
  @Post()
  @HttpCode(202)
  @ApiParam(WEBHOOK_ID)
  @ApiAcceptedResponse({ type: WebhookAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'scope-missing',
    'webhook-not-found',
    'webhook-delivery-not-found',
    'invalid-body',
    'unavailable',
  )
  replayDeliveries(
    @Caller() by: Acting,
    @Param('webhook') webhook: string,
    @Body(STRICT_BODY) { commandId, ...wish }: ReplayDeliveriesDto,
  ): Promise<WebhookAnswer> {
    return this.commands.execute(new ReplayOwnedDeliveries(by, commandId, webhook, replayWish(wish)));
  }
}
