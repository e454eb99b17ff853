import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import { WebhookQueries } from '@rollcall/webhooks';
import type { WebhookDeliveryList } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { OwnedWebhooks } from '../owned-webhooks.js';
import { WEBHOOK_ID } from '../webhook.dto.js';
import { DeliveryListDto, ListDeliveriesDto } from './list-deliveries.dto.js';

@ApiTags('webhooks')
@Does('list-deliveries')
@Controller('v1/webhooks/:webhook/deliveries')
export class ListDeliveriesController {
  constructor(
    private readonly owned: OwnedWebhooks,
    private readonly webhooks: WebhookQueries,
  ) {}

  /** What a webhook was told or is to be told, and what became of it, the newest first. Nothing of what the receiver answered is kept. */
  @Get()
  @ApiParam(WEBHOOK_ID)
  @ApiOkResponse({ type: DeliveryListDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'webhook-not-found', 'invalid-body', 'unavailable')
  async listDeliveries(
    @Caller() { owner }: Acting,
    @Param('webhook') webhook: string,
    @Query(STRICT_BODY) query: ListDeliveriesDto,
  ): Promise<WebhookDeliveryList> {
    await this.owned.require(webhook, owner);
    return this.webhooks.deliveries(webhook, query);
  }
}
