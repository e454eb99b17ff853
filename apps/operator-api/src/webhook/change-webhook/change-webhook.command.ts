import { Command } from '@nestjs/cqrs';
import type { WebhookEndpointCommand } from '@rollcall/webhook-endpoint';
import type { WebhookAnswer } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';

/** Somebody asks something of a webhook that needs nothing but the record. */
export class ChangeOwnedWebhook extends Command<WebhookAnswer> {
  constructor(
    readonly by: Acting,
    readonly commandId: string,
    readonly webhook: string,
    readonly command: WebhookEndpointCommand,
  ) {
    super();
  }
}
