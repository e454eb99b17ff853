import { pinOfShort, shortPin } from './pin.js';
import { isSecret } from './secret.js';

/** What a sign-in link says: where the operator API is, the CA key to expect there, and the right to sign in once. */
export type SignInLink = {
  /** Origin of the operator API, `https://host:port`. */
  readonly address: string;
  /** `sha256/<base64>` pins of the CA key, of which a link carries the first; empty for a plane with a public certificate. */
  readonly pins: readonly string[];
  /** `rcl_…` */
  readonly secret: string;
};

/**
 * Writes a link as people paste it: `https://host:port/sign-in#<secret>`, with `.<base64url of the pin's hash>` where there is a pin.
 * What stands behind `#` never reaches a server by itself.
 */
export const encodeSignInLink = ({ address, pins: [pin], secret }: SignInLink): string => {
  return `${address}/sign-in#${secret}${pin === undefined ? '' : `.${shortPin(pin)}`}`;
};

/** Reads a link. @throws Error with one sentence for the person who pasted it; the message never repeats the link. */
export const decodeSignInLink = (text: string): SignInLink => {
  const trimmed = text.trim();
  if (!URL.canParse(trimmed)) throw new Error('This is not a sign-in link: it starts with "https://" and is one word.');
  const url = new URL(trimmed);
  if (url.protocol !== 'https:') throw new Error('This sign-in link is not an https address.');
  if (url.pathname !== '/sign-in' || url.search !== '' || url.username !== '' || url.password !== '')
    throw new Error('This is not a sign-in link: its path is "/sign-in".');
  const [secret = '', pin, ...rest] = url.hash.slice(1).split('.');
  if (!isSecret('rcl', secret) || rest.length > 0)
    throw new Error('This sign-in link is damaged: was all of it copied?');
  if (pin === undefined) return { address: url.origin, pins: [], secret };
  const expected = pinOfShort(pin);
  if (expected === null) throw new Error('The pin in this sign-in link is damaged: was all of it copied?');
  return { address: url.origin, pins: [expected], secret };
};
