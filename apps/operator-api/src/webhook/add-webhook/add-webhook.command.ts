import { Command } from '@nestjs/cqrs';
import type { AddWebhookAnswer, AddWebhookRequest } from '@rollcall/wire';

/** A person wants a program to be told what happens to their machines. */
export class AddOwnedWebhook extends Command<AddWebhookAnswer> {
  constructor(
    readonly personId: string,
    readonly wanted: Required<AddWebhookRequest>,
  ) {
    super();
  }
}
