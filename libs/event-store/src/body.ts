import type { Json } from '@rollcall/decider';
import canonicalize from 'canonicalize';
import type { LedgerEvent } from './event-store.js';

/** The most that a ledger event's body may take, in bytes. */
export const BODY_LIMIT = 32_768;

/** A decision asked for something that the record does not store. It fails alone, before anything is sent. */
export class Unstorable extends Error {
  override readonly name = 'Unstorable';
}

/**
 * The bytes of an event's body: canonical JSON (RFC 8785) without `type`, so that a hash taken later covers what was decided.
 *
 * @throws Unstorable for a float, a NUL, a lone surrogate, `undefined`, or more than 32 KiB; the message names the place.
 */
export const bodyOf = (event: { readonly type: string }): string => {
  const { type, ...body } = event;
  refuseUnstorable(body, type);
  const text = canonicalize(body) ?? '{}';
  if (Buffer.byteLength(text) > BODY_LIMIT) throw new Unstorable(`${type}: the body has more than ${BODY_LIMIT} bytes`);
  return text;
};

/** An event out of its recorded parts. A body that does not parse is still a fact: it comes without fields, and readers park it. */
export const ledgerEventOf = (type: string, body: string): LedgerEvent => {
  try {
    return { ...(JSON.parse(body) as { [key: string]: Json }), type };
  } catch {
    return { type };
  }
};

/** Walks a value and names the first place that cannot be stored. @throws Unstorable */
export const refuseUnstorable = (value: unknown, place: string): void => {
  if (value === null || typeof value === 'boolean') return;
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new Unstorable(`${place}: ${value} is not an integer below 2^53`);
    return;
  }
  if (typeof value === 'string') {
    if (value.includes('\u0000') || !value.isWellFormed())
      throw new Unstorable(`${place}: the text has a NUL or half a character`);
    return;
  }
  if (Array.isArray(value)) {
    value.forEach((element, index) => refuseUnstorable(element, `${place}[${index}]`));
    return;
  }
  if (typeof value === 'object') {
    for (const [key, element] of Object.entries(value)) {
      refuseUnstorable(key, `${place} (a key)`);
      refuseUnstorable(element, `${place}.${key}`);
    }
    return;
  }
  throw new Unstorable(`${place}: ${typeof value} is not JSON`);
};

/** The state of a head as it will come back: what JSON drops is dropped now, so a fold never depends on whether it was stored. */
export const storable = (state: unknown, place: string): Json => {
  const plain = JSON.parse(JSON.stringify(state)) as Json;
  refuseUnstorable(plain, place);
  return plain;
};
