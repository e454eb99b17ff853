import { Command } from '@nestjs/cqrs';
import type { WebhookEndpointCommand } from '@rollcall/webhook-endpoint';
import type { WebhookAnswer } from '@rollcall/wire';

/** A person asks something of a webhook that needs nothing but the record. */
export class ChangeOwnedWebhook extends Command<WebhookAnswer> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    readonly webhook: string,
    readonly command: WebhookEndpointCommand,
  ) {
    super();
  }
}
