import type { LedgerEvent } from '@rollcall/event-store';
import { SUBSCRIBABLE, type Subscribable } from '@rollcall/webhook-endpoint';
import type { Notice } from './notice.js';

/** Where somebody wants to be told. */
export type Endpoint = {
  readonly endpoint: string;
  readonly owner: string;
  readonly events: readonly Subscribable[];
  readonly promisedOnly: boolean;
  /** The batch that added it. */
  readonly firstBatch: bigint;
};

/**
 * An endpoint is told what it has asked for of its owner's machines (U1, U5), of silences only those that break a promise where it wants so
 * (N11), and nothing that was recorded before it was there.
 */
export const isTold = (
  { owner, events, promisedOnly, firstBatch }: Endpoint,
  notice: Pick<Notice, 'owner' | 'type' | 'promised'>,
  batch: bigint,
): boolean =>
  notice.owner === owner &&
  batch > firstBatch &&
  (events as readonly string[]).includes(notice.type) &&
  !(promisedOnly && notice.promised === false);

/** An endpoint as its event says it is; null where this version cannot read that. */
export const endpointIn = (
  endpoint: string,
  event: LedgerEvent,
  batch: bigint,
): (Endpoint & { host: string }) | null => {
  const { owner, host, events, promisedOnly } = event;
  if (!isId(endpoint) || !isStorable(owner) || !isStorable(host) || !Array.isArray(events)) return null;
  const known = SUBSCRIBABLE.filter((type) => (events as readonly unknown[]).includes(type));
  return { endpoint, owner, host, events: known, promisedOnly: promisedOnly === true, firstBatch: batch };
};

/** Whether a text is an id as the plane makes them. */
export const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

const isStorable = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
