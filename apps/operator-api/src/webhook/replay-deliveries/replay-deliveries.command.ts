import { Command } from '@nestjs/cqrs';
import type { ReplayWish } from '@rollcall/webhook-endpoint';
import type { WebhookAnswer } from '@rollcall/wire';

/** A person wants to have sent again what was sent. */
export class ReplayOwnedDeliveries extends Command<WebhookAnswer> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    readonly webhook: string,
    readonly wish: ReplayWish,
  ) {
    super();
  }
}
