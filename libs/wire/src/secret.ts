import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The kinds of secret, by prefix: `rcm` machine credential, `rco` a person's session, `rca` automation, `rce` enrolment token,
 * `rcl` one-time sign-in link, `rcd` the device code beside a short code. Prefix, 43 base-62 digits of 256 random bits, 6 of a CRC-32: secret scanners recognise them
 * offline, and a mistyped one is refused without a database read.
 */
export type SecretKind = 'rcm' | 'rco' | 'rca' | 'rce' | 'rcl' | 'rcd';

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

// In small numbers: it is made for each check.
const checksum = (kind: SecretKind, digits: string): string => {
  let rest = crc32(`${kind}_${digits}`);
  let text = '';
  for (let digit = 0; digit < 6; digit += 1) {
    text = DIGITS.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
};

/** Makes a secret where it will be kept. 256 bits from the system's generator. */
export const makeSecret = (kind: SecretKind): string => {
  const digits = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43);
  return `${kind}_${digits}${checksum(kind, digits)}`;
};

const FORM = /^(rc[moaeld])_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

/** Whether a text has the form and the checksum of a secret of this kind. Says nothing about whether anybody registered it. */
export const isSecret = (kind: SecretKind, text: string): boolean => {
  const match = FORM.exec(text);
  return match !== null && match[1] === kind && match[3] === checksum(kind, match[2] ?? '');
};

/** SHA-256 of a secret, 64 hex digits: all that the plane ever stores of one. */
export const hashOf = (secret: string): string => hash('sha256', secret, 'hex');
