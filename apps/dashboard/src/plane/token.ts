import type { EnrolmentToken } from '@rollcall/wire';
import { buf as crc32 } from 'crc-32';

/*
 * The same forms as `@rollcall/wire` has, which is for Node; a test compares the two. A token is made here, in the browser, and the plane gets
 * its hash: what admits a machine has never been anywhere else.
 */

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const base62 = (value: bigint, width: number): string => {
  let rest = value;
  let text = '';
  for (let digit = 0; digit < width; digit += 1) {
    text = DIGITS.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
};

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const checksum = (text: string): number => crc32(new TextEncoder().encode(text)) >>> 0;

/** Makes the secret of an enrolment token: 256 bits from the browser's generator. */
export const makeTokenSecret = (bytes = crypto.getRandomValues(new Uint8Array(32))): string => {
  const digits = base62(BigInt(`0x${hex(bytes)}`), 43);
  return `rce_${digits}${base62(BigInt(checksum(`rce_${digits}`)), 6)}`;
};

/** SHA-256, 64 hex digits. */
export const hashOf = async (secret: string): Promise<string> =>
  hex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))));

/** What is given to the agent. */
export const encodeToken = ({ address, pins, secret }: EnrolmentToken): string => {
  const body = btoa(JSON.stringify([address, pins, secret]))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
  return `rollcall1.${body}.${checksum(body).toString(16).padStart(8, '0')}`;
};
