import { isSecret } from '@rollcall/wire';
import { EXIT, Failure } from '../failure.js';

/** What a sign-in link says: where the operator API is, the CA key to expect there, and the right to sign in once. */
export type SignInLink = {
  /** Origin, `https://host:port`. */
  readonly address: string;
  /** `sha256/<base64>` pins of the CA key; empty for a plane with a public certificate. */
  readonly pins: readonly string[];
  /** `rcl_…` */
  readonly secret: string;
};

/**
 * Reads `https://host:port/sign-in#<secret>.<pin>`; without a pin the system's certificates decide.
 *
 * @throws Failure one sentence; it never repeats the link.
 */
export const parseSignInLink = (text: string): SignInLink => {
  const refuse = (sentence: string): never => {
    throw new Failure(sentence, EXIT.usage);
  };
  const trimmed = text.trim();
  if (!URL.canParse(trimmed)) return refuse('This is not a sign-in link: it starts with "https://" and is one word.');
  const url = new URL(trimmed);
  if (url.protocol !== 'https:') return refuse('This sign-in link is not an https address.');
  if (url.pathname !== '/sign-in' || url.search !== '' || url.username !== '' || url.password !== '')
    return refuse('This is not a sign-in link: its path is "/sign-in".');
  const [secret = '', pin, ...rest] = url.hash.slice(1).split('.');
  if (!isSecret('rcl', secret) || rest.length > 0) return refuse('This sign-in link is damaged: was all of it copied?');
  if (pin === undefined) return { address: url.origin, pins: [], secret };
  if (!/^[A-Za-z0-9_-]{43}$/.test(pin)) return refuse('The pin in this sign-in link is damaged: was all of it copied?');
  return { address: url.origin, pins: [`sha256/${Buffer.from(pin, 'base64url').toString('base64')}`], secret };
};
