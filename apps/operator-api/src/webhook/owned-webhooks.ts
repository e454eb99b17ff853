import { Injectable } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { EventStore, type Decision } from '@rollcall/event-store';
import {
  webhookEndpoint,
  webhookStream,
  type WebhookEndpointCommand,
  type WebhookEndpointState,
} from '@rollcall/webhook-endpoint';
import type { Acting } from '../access/acting.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The webhooks of one person. Somebody else's does not exist here (U1). */
@Injectable()
export class OwnedWebhooks {
  constructor(private readonly store: EventStore) {}

  /** Makes sure that it is there, fresh from the record. @throws Refusal `webhook-not-found` */
  async require(id: string, owner: string): Promise<void> {
    const view = UUID.test(id) ? await this.store.view(webhookEndpoint, { stream: webhookStream(id) }) : null;
    if (view?.state.added?.owner !== owner || view.state.removed) throw new Refusal('webhook-not-found');
  }

  /**
   * Asks something of it, as its owner or for them. One that is removed may be removed again.
   *
   * @throws Refusal `webhook-not-found`
   */
  async decide(
    id: string,
    { owner, actor }: Acting,
    command: WebhookEndpointCommand,
    commandId?: string,
  ): Promise<Decision<WebhookEndpointState>> {
    const target = { stream: webhookStream(id) };
    const view = UUID.test(id) ? await this.store.view(webhookEndpoint, target) : null;
    if (view?.state.added?.owner !== owner) throw new Refusal('webhook-not-found');
    return this.store.decide(webhookEndpoint, target, command, {
      actor,
      ...(commandId === undefined ? {} : { commandId }),
    });
  }
}
