import { Command } from '@nestjs/cqrs';
import type { AddWebhookAnswer, AddWebhookRequest } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';

/** Somebody wants a program to be told what happens to their machines. */
export class AddOwnedWebhook extends Command<AddWebhookAnswer> {
  constructor(
    readonly by: Acting,
    readonly wanted: Required<AddWebhookRequest>,
  ) {
    super();
  }
}
