import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore } from '@rollcall/event-store';
import { webhookEndpoint, webhookStream } from '@rollcall/webhook-endpoint';
import type { AddWebhookAnswer } from '@rollcall/wire';
import { anotherCommand } from '../../machine/another-command.js';
import { freshSecret } from '../roll-webhook-secret/fresh-secret.js';
import { OwnedWebhooks } from '../owned-webhooks.js';
import { WebhookAccess } from '../webhook-access.js';
import { AddOwnedWebhook } from './add-webhook.command.js';

/**
 * Seals the address, then records the webhook, whose id is the command's: a repetition finds the same stream. What was sealed for one that
 * was not recorded is nobody's, and is sealed anew.
 */
@CommandHandler(AddOwnedWebhook)
export class AddWebhookHandler implements ICommandHandler<AddOwnedWebhook> {
  constructor(
    private readonly store: EventStore,
    private readonly webhooks: OwnedWebhooks,
    private readonly access: WebhookAccess,
  ) {}

  async execute({ by, wanted }: AddOwnedWebhook): Promise<AddWebhookAnswer> {
    const { commandId: id, url, events, promisedOnly } = wanted;
    const host = await this.access.hostOf(url);
    const target = { stream: webhookStream(id) };
    const before = await this.store.view(webhookEndpoint, target);
    const sealed = before === null ? await this.access.seal(id, url) : null;
    const { state, repeated } = await this.store.decide(
      webhookEndpoint,
      target,
      { type: 'AddWebhookEndpoint', owner: by.owner, host, events, promisedOnly },
      { actor: by.actor, commandId: id },
    );
    const { added, removed } = state;
    const isSame =
      added?.owner === by.owner &&
      !removed &&
      added.promisedOnly === promisedOnly &&
      added.events.length === new Set(events).size &&
      added.events.every((type) => events.includes(type)) &&
      (await this.access.addressOf(id)) === url;
    if (!isSame) throw anotherCommand();
    // Of two who add it at the same time, the one that is told that it was there already may have sealed over the other's secret, or under it.
    const secret = sealed === null || repeated ? await freshSecret(this.webhooks, this.access, id, by) : sealed;
    return { webhook: { id, host: added.host, events: added.events, promisedOnly }, secret };
  }
}
