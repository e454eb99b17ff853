import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import { WebhookQueries } from '@rollcall/webhooks';
import type { WebhookList } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { WebhookAccess } from '../webhook-access.js';
import { WebhookListDto } from './list-webhooks.dto.js';

@ApiTags('webhooks')
@Does('list-webhooks')
@Controller('v1/webhooks')
export class ListWebhooksController {
  constructor(
    private readonly webhooks: WebhookQueries,
    private readonly access: WebhookAccess,
  ) {}

  /** The caller's webhooks, the oldest first, and how each gets on with its receiver. */
  @Get()
  @ApiOkResponse({ type: WebhookListDto })
  @ApiProblems('not-signed-in', 'scope-missing', 'unavailable')
  async listWebhooks(@Caller() { owner }: Acting): Promise<WebhookList> {
    return { ...(await this.webhooks.list(owner)), problem: this.access.problem };
  }
}
