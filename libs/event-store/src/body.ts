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
  const fault = faultIn(value);
  if (fault) throw new Unstorable(`${place}${fault.at}: ${fault.what}`);
};

type Fault = { readonly at: string; readonly what: string };

// The place is put together on the way back from a fault: every check passes here, and hardly any has one.
const faultIn = (value: unknown, mayDrop = false): Fault | null => {
  switch (typeof value) {
    case 'string':
      return isStorableText(value) ? null : UNSTORABLE_TEXT;
    case 'boolean':
      return null;
    case 'number':
      return Number.isSafeInteger(value) ? null : { at: '', what: `${value} is not an integer below 2^53` };
    case 'object':
      if (value === null) return null;
      return Array.isArray(value) ? faultInArray(value, mayDrop) : faultInObject(value, mayDrop);
    default:
      return { at: '', what: `${typeof value} is not JSON` };
  }
};

const faultInArray = (values: readonly unknown[], mayDrop: boolean): Fault | null => {
  for (const [index, element] of values.entries()) {
    const fault = faultIn(element, mayDrop);
    if (fault) return { ...fault, at: `[${index}]${fault.at}` };
  }
  return null;
};

const faultInObject = (value: object, mayDrop: boolean): Fault | null => {
  for (const key of Object.keys(value)) {
    if (!isStorableText(key)) return { ...UNSTORABLE_TEXT, at: ' (a key)' };
    const element = (value as Readonly<Record<string, unknown>>)[key];
    if (element === undefined && mayDrop) continue;
    const fault = faultIn(element, mayDrop);
    if (fault) return { ...fault, at: `.${key}${fault.at}` };
  }
  return null;
};

const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000');
const UNSTORABLE_TEXT: Fault = { at: '', what: 'the text has a NUL or half a character' };

/**
 * The text of a state as it is stored. What JSON drops does not come back, so whoever goes on deciding goes on from this text: a fold never
 * depends on whether it was stored.
 *
 * @throws Unstorable
 */
export const storable = (state: unknown, place: string): string => {
  const fault = faultIn(state, true);
  if (fault) throw new Unstorable(`${place}${fault.at}: ${fault.what}`);
  return JSON.stringify(state);
};
