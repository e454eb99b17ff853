import { Command } from '@nestjs/cqrs';
import type { RollWebhookSecretAnswer } from '@rollcall/wire';

/** A person wants another secret for a webhook. */
export class RollOwnedWebhookSecret extends Command<RollWebhookSecretAnswer> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    readonly webhook: string,
  ) {
    super();
  }
}
