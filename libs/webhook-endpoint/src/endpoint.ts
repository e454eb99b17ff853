import { type Decider, Refusal } from '@rollcall/decider';
import type { WebhookEndpointCommand } from './commands.js';
import { SUBSCRIBABLE, type WebhookEndpointAdded, type WebhookEndpointEvent } from './facts.js';

/** What is known of one endpoint. Whether the receiver answers is no part of it: that is its deliveries' business. */
export type WebhookEndpointState = {
  /** As it was added; null before that. */
  readonly added: Omit<WebhookEndpointAdded, 'type'> | null;
  /** By a person. */
  readonly paused: boolean;
  readonly removed: boolean;
};

/** An endpoint is added once, and everything else is asked of one that is there; what was removed does not come back. */
export const webhookEndpoint: Decider<WebhookEndpointState, WebhookEndpointCommand, WebhookEndpointEvent> = {
  fold: 1,

  initial: () => ({ added: null, paused: false, removed: false }),

  decide(state, command) {
    if (command.type === 'AddWebhookEndpoint') {
      if (state.added !== null) return [];
      const { owner, host, events, promisedOnly } = command;
      const sorted = SUBSCRIBABLE.filter((type) => events.includes(type));
      return [{ type: 'WebhookEndpointAdded', owner, host, events: sorted, promisedOnly }];
    }
    if (state.added === null) throw new Refusal('webhook-not-found');
    if (command.type === 'RemoveWebhookEndpoint') return state.removed ? [] : [{ type: 'WebhookEndpointRemoved' }];
    if (state.removed) throw new Refusal('webhook-not-found');
    switch (command.type) {
      case 'RollWebhookSecret':
        return [{ type: 'WebhookSecretRolled' }];
      case 'PauseWebhookEndpoint':
        return state.paused ? [] : [{ type: 'WebhookEndpointPaused' }];
      case 'ResumeWebhookEndpoint':
        // Always a fact: it may have been stopped by its failures, of which the record knows nothing.
        return [{ type: 'WebhookEndpointResumed' }];
      case 'TestWebhookEndpoint':
        return [{ type: 'WebhookTestRequested' }];
      case 'ReplayWebhookDeliveries': {
        const wish =
          'eventId' in command ? { ...TIMELESS, eventId: command.eventId } : { eventId: null, ...timeOf(command) };
        return [{ type: 'WebhookReplayRequested', ...wish }];
      }
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'WebhookEndpointAdded': {
        const { owner, host, events, promisedOnly } = fact;
        return { ...state, added: { owner, host, events, promisedOnly } };
      }
      case 'WebhookEndpointPaused':
        return { ...state, paused: true };
      case 'WebhookEndpointResumed':
        return { ...state, paused: false };
      case 'WebhookEndpointRemoved':
        return { ...state, removed: true };
      default:
        return state;
    }
  },
};

const TIMELESS = { from: null, to: null, types: [] } as const;
const timeOf = ({ from, to, types }: { from: string; to: string; types: readonly string[] }) => ({ from, to, types });
