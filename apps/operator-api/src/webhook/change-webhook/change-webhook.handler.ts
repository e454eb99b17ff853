import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { WebhookAnswer } from '@rollcall/wire';
import { OwnedWebhooks } from '../owned-webhooks.js';
import { ChangeOwnedWebhook } from './change-webhook.command.js';

/** Records what is asked for. What follows from it, the projector does, once: whoever looks through the record for what is to be sent. */
@CommandHandler(ChangeOwnedWebhook)
export class ChangeWebhookHandler implements ICommandHandler<ChangeOwnedWebhook> {
  constructor(private readonly webhooks: OwnedWebhooks) {}

  async execute({ by, commandId, webhook, command }: ChangeOwnedWebhook): Promise<WebhookAnswer> {
    const { state } = await this.webhooks.decide(webhook, by, command, commandId);
    return { webhook: { id: webhook, paused: state.paused, removed: state.removed } };
  }
}
