import type { Subscribable } from './facts.js';

/** A person adds an address; it was checked and sealed before. */
export type AddWebhookEndpoint = {
  readonly type: 'AddWebhookEndpoint';
  readonly owner: string;
  readonly host: string;
  /** In any order; one or more. */
  readonly events: readonly Subscribable[];
  readonly promisedOnly: boolean;
};
/** A person wants another secret; it was sealed before. */
export type RollWebhookSecret = { readonly type: 'RollWebhookSecret' };
/** A person wants nothing to be sent for now. */
export type PauseWebhookEndpoint = { readonly type: 'PauseWebhookEndpoint' };
/** A person wants it to be sent again, whatever had stopped it. */
export type ResumeWebhookEndpoint = { readonly type: 'ResumeWebhookEndpoint' };
/** A person wants to see a notice arrive. */
export type TestWebhookEndpoint = { readonly type: 'TestWebhookEndpoint' };
/** A person wants to have sent again what was sent before. */
export type ReplayWebhookDeliveries = { readonly type: 'ReplayWebhookDeliveries' } & ReplayWish;
/** One notice by the id of its event, or those of a time (RFC 3339, UTC; `to` not included), all types or these. */
export type ReplayWish =
  { readonly eventId: string } | { readonly from: string; readonly to: string; readonly types: readonly string[] };
/** A person takes it away for good. */
export type RemoveWebhookEndpoint = { readonly type: 'RemoveWebhookEndpoint' };

/** Everything that can be asked of an endpoint's stream. */
export type WebhookEndpointCommand =
  | AddWebhookEndpoint
  | RollWebhookSecret
  | PauseWebhookEndpoint
  | ResumeWebhookEndpoint
  | TestWebhookEndpoint
  | ReplayWebhookDeliveries
  | RemoveWebhookEndpoint;

const CATEGORY = 'webhook-';

/** The stream of an endpoint. */
export const webhookStream = (endpoint: string): string => `${CATEGORY}${endpoint}`;
/** The id of the endpoint that a stream is about; null for streams of other categories. */
export const endpointOf = (stream: string): string | null =>
  stream.startsWith(CATEGORY) ? stream.slice(CATEGORY.length) : null;
