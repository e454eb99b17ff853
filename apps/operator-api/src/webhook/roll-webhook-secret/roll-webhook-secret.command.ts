import { Command } from '@nestjs/cqrs';
import type { RollWebhookSecretAnswer } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';

/** Somebody wants another secret for a webhook. */
export class RollOwnedWebhookSecret extends Command<RollWebhookSecretAnswer> {
  constructor(
    readonly by: Acting,
    readonly commandId: string,
    readonly webhook: string,
  ) {
    super();
  }
}
