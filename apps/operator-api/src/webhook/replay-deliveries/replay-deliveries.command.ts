import { Command } from '@nestjs/cqrs';
import type { ReplayWish } from '@rollcall/webhook-endpoint';
import type { WebhookAnswer } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';

/** Somebody wants to have sent again what was sent. */
export class ReplayOwnedDeliveries extends Command<WebhookAnswer> {
  constructor(
    readonly by: Acting,
    readonly commandId: string,
    readonly webhook: string,
    readonly wish: ReplayWish,
  ) {
    super();
  }
}
