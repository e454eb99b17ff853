import { createHash, type KeyObject } from 'node:crypto';

/** The pin of a public key: `sha256/<base64 of the SHA-256 of its SubjectPublicKeyInfo>` (RFC 7469, section 2.4). */
export const pinOf = (key: KeyObject): string =>
  `sha256/${createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64')}`;

/** Whether a value has the form of a pin. */
export const isPin = (value: unknown): value is string =>
  typeof value === 'string' && /^sha256\/[A-Za-z0-9+/]{43}=$/.test(value);
