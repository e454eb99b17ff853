import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { WebhookQueries } from '@rollcall/webhooks';
import type { WebhookAnswer } from '@rollcall/wire';
import { OwnedWebhooks } from '../owned-webhooks.js';
import { ReplayOwnedDeliveries } from './replay-deliveries.command.js';

/** Records the wish; the projector carries it out, once. One delivery that is not there is refused, a time without any is not. */
@CommandHandler(ReplayOwnedDeliveries)
export class ReplayDeliveriesHandler implements ICommandHandler<ReplayOwnedDeliveries> {
  constructor(
    private readonly owned: OwnedWebhooks,
    private readonly webhooks: WebhookQueries,
  ) {}

  async execute({ by, commandId, webhook, wish }: ReplayOwnedDeliveries): Promise<WebhookAnswer> {
    await this.owned.require(webhook, by.owner);
    if ('eventId' in wish && !(await this.webhooks.hasDelivery(webhook, wish.eventId)))
      throw new Refusal('webhook-delivery-not-found');
    const command = { type: 'ReplayWebhookDeliveries', ...wish } as const;
    const { state } = await this.owned.decide(webhook, by, command, commandId);
    return { webhook: { id: webhook, paused: state.paused, removed: state.removed } };
  }
}
