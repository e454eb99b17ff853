import { crc32 } from 'node:zlib';
import { isPin } from './pin.js';
import { isSecret } from './secret.js';

/** What a token carries in one string: where the plane is, the CA keys to expect there, and the right to join once (N3, N20). */
export type EnrolmentToken = {
  /** Origin of the machine API, `https://host:port`. */
  readonly address: string;
  /** `sha256/<base64 of the SPKI hash>`: current, then next. Empty for a plane with a public certificate. */
  readonly pins: readonly string[];
  /** `rce_…`; or `rcm_…`, the credential itself, which a person registered beforehand for this machine. */
  readonly secret: string;
};

const PREFIX = 'rollcall1.';

/** Writes a token as `rollcall1.<base64url JSON>.<crc32>`: one word that survives a double click and a paste. */
export const encodeEnrolmentToken = (token: EnrolmentToken): string => {
  const body = Buffer.from(JSON.stringify([token.address, token.pins, token.secret]), 'utf8').toString('base64url');
  return `${PREFIX}${body}.${crc32(body).toString(16).padStart(8, '0')}`;
};

/** Reads a token. @throws Error with one sentence for the person who pasted it; the message never repeats the token. */
export const decodeEnrolmentToken = (text: string): EnrolmentToken => {
  const match = /^rollcall1\.([A-Za-z0-9_-]{1,4000})\.([0-9a-f]{8})$/.exec(text.trim());
  if (!match) throw new Error('This is not an enrolment token: it starts with "rollcall1." and is one word.');
  const [, body = '', sum] = match;
  if (crc32(body).toString(16).padStart(8, '0') !== sum)
    throw new Error('This enrolment token is damaged: was all of it copied?');
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  } catch (cause) {
    throw new Error('This enrolment token is damaged: was all of it copied?', { cause });
  }
  if (!Array.isArray(parsed)) throw new Error('This enrolment token is of an unknown form.');
  const [address, pins, secret] = parsed as unknown[];
  if (typeof address !== 'string' || !isHttpsOrigin(address))
    throw new Error('The address in this enrolment token is not an https origin.');
  if (!Array.isArray(pins) || !pins.every(isPin))
    throw new Error('The pins in this enrolment token are not SHA-256 pins.');
  if (typeof secret !== 'string' || !(isSecret('rce', secret) || isSecret('rcm', secret)))
    throw new Error('The secret in this enrolment token is damaged.');
  return { address, pins, secret };
};

/** Whether a text is where a plane can be: `https://host` or `https://host:port`, and nothing more. */
export const isHttpsOrigin = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === 'https:' && url.origin === text && url.username === '';
};
