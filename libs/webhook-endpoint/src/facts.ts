// Ledger events of the category `webhook`, one stream per endpoint. The actor of each is the person who asked for it.

/**
 * What an endpoint can be told, by the `type` of the notice. A machine that had said that it would stop yields `machine.stopped` when its
 * silence is over the line, any other `machine.absent`: never both for one silence (O23).
 */
export const SUBSCRIBABLE = [
  'machine.absent',
  'machine.stopped',
  'machine.returned',
  'machine.blocked',
  'machine.admitted',
  'machine.deleted',
  'credential.rotated',
  'credential.refused',
  'fleet.silence',
] as const;
/** A type of notice that an endpoint may be subscribed to. */
export type Subscribable = (typeof SUBSCRIBABLE)[number];

/** A person gave an address at which a program listens. The address and the secret are kept sealed, outside the record (U5). */
export type WebhookEndpointAdded = {
  readonly type: 'WebhookEndpointAdded';
  /** The id of the person whose machines it is told about. */
  readonly owner: string;
  /** The host of the address, and its port where that is not 443: the rest may carry a secret of the receiver. */
  readonly host: string;
  /** What it is told, each once, in the order of `SUBSCRIBABLE`. */
  readonly events: readonly Subscribable[];
  /** Of silences, it is told only those that break a promise (N11). */
  readonly promisedOnly: boolean;
};
/** It has a new secret; the one before is valid for a while. */
export type WebhookSecretRolled = { readonly type: 'WebhookSecretRolled' };
/** Nothing is sent to it until it is resumed; what happens meanwhile waits. */
export type WebhookEndpointPaused = { readonly type: 'WebhookEndpointPaused' };
/** Whatever had stopped it, a person or its own failures: what waits is sent. */
export type WebhookEndpointResumed = { readonly type: 'WebhookEndpointResumed' };
/** A person wants to see a notice arrive there; it gets one of the type `webhook.test`. */
export type WebhookTestRequested = { readonly type: 'WebhookTestRequested' };
/** What it was told is sent to it again, each under its own id: one notice, or those of a time. */
export type WebhookReplayRequested = {
  readonly type: 'WebhookReplayRequested';
  /** The id of the event; null: what `from`, `to` and `types` say. */
  readonly eventId: string | null;
  /** When it happened (RFC 3339, UTC), `from` included and `to` not; null with `eventId`. */
  readonly from: string | null;
  readonly to: string | null;
  /** Only these types of notice; empty: all. */
  readonly types: readonly string[];
};
/** It is told nothing more, and its address and secret are forgotten; the last event of the stream. */
export type WebhookEndpointRemoved = { readonly type: 'WebhookEndpointRemoved' };

/** Everything that can happen to an endpoint. */
export type WebhookEndpointEvent =
  | WebhookEndpointAdded
  | WebhookSecretRolled
  | WebhookEndpointPaused
  | WebhookEndpointResumed
  | WebhookTestRequested
  | WebhookReplayRequested
  | WebhookEndpointRemoved;
