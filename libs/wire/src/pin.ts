import { createHash, type KeyObject } from 'node:crypto';

/** The pin of a public key: `sha256/<base64 of the SHA-256 of its SubjectPublicKeyInfo>` (RFC 7469, section 2.4). */
export const pinOf = (key: KeyObject): string =>
  `sha256/${createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64')}`;

/** Whether a value has the form of a pin. */
export const isPin = (value: unknown): value is string =>
  typeof value === 'string' && /^sha256\/[A-Za-z0-9+/]{43}=$/.test(value);

const PREFIX = 'sha256/';

/** A pin as it stands behind `#` in an address: base64url of the hash. */
export const shortPin = (pin: string): string => Buffer.from(pin.slice(PREFIX.length), 'base64').toString('base64url');

/** The pin that stands behind `#`; null where it is none. */
export const pinOfShort = (text: string): string | null =>
  /^[A-Za-z0-9_-]{43}$/.test(text) ? PREFIX + Buffer.from(text, 'base64url').toString('base64') : null;
