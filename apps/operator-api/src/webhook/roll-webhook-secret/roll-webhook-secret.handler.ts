import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { RollWebhookSecretAnswer } from '@rollcall/wire';
import { OwnedWebhooks } from '../owned-webhooks.js';
import { WebhookAccess } from '../webhook-access.js';
import { freshSecret } from './fresh-secret.js';
import { RollOwnedWebhookSecret } from './roll-webhook-secret.command.js';

/** Makes another secret; a repetition, too, because the one before was not kept to be shown again. */
@CommandHandler(RollOwnedWebhookSecret)
export class RollWebhookSecretHandler implements ICommandHandler<RollOwnedWebhookSecret> {
  constructor(
    private readonly webhooks: OwnedWebhooks,
    private readonly access: WebhookAccess,
  ) {}

  async execute({ by, commandId, webhook }: RollOwnedWebhookSecret): Promise<RollWebhookSecretAnswer> {
    return {
      webhook: { id: webhook },
      secret: await freshSecret(this.webhooks, this.access, webhook, by, commandId),
    };
  }
}
