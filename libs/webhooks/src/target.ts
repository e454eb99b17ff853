import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { DeadlineExceeded, withDeadline, type Clock } from '@rollcall/lifetimes';
import { isOrdinaryPort, mayConnect, type AllowedTarget } from './address.js';

/** Where the addresses of a name come from. */
export abstract class Resolver {
  /** All of them. @throws Error when the name is not known, or nobody answers */
  abstract addressesOf(name: string): Promise<readonly string[]>;
}

/** Asks as every other program on this host does. */
export class SystemResolver extends Resolver {
  override async addressesOf(name: string): Promise<readonly string[]> {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  }
}

/** What is wrong with a target; a closed list. */
export type TargetProblem =
  'not-a-url' | 'not-encrypted' | 'has-credentials' | 'port-not-allowed' | 'address-not-allowed' | 'not-resolved';

/** A target that may be connected to, at these addresses and at no others. */
export type Target = { readonly url: URL; readonly addresses: readonly string[] };

/** What decides about targets. */
export type TargetRules = { readonly resolver: Resolver; readonly allowed: readonly AllowedTarget[] };

/**
 * Whether a webhook may go to an address that a person wrote: asked when it is added, and at every attempt, because names change what they
 * stand for. A name of which one address is closed is refused whole: an attacker would only have to be lucky.
 */
export const checkTarget = async (
  text: string,
  { resolver, allowed }: TargetRules,
): Promise<Target | { readonly problem: TargetProblem }> => {
  const url = URL.canParse(text) ? new URL(text) : null;
  // `new URL` has written every spelling of an IPv4 address (0x7f.1, 2130706433) in the usual way.
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return { problem: 'not-a-url' };
  if (url.username || url.password) return { problem: 'has-credentials' };
  const connection = { port: portOf(url), encrypted: url.protocol === 'https:' };
  const problem = problemWith(connection);
  // No address could make up for it, so nobody is asked.
  if (allowed.length === 0 && problem !== 'address-not-allowed') return { problem };
  const name = nameOf(url);
  const addresses = isIP(name) > 0 ? [name] : await resolver.addressesOf(name).catch(() => []);
  if (addresses.length === 0) return { problem: 'not-resolved' };
  return addresses.every((address) => mayConnect({ ...connection, address }, allowed))
    ? { url, addresses }
    : { problem };
};

/** The same, for at most so many milliseconds: a name of which nobody has said anything by then is not resolved. */
export const checkTargetWithin = (
  ms: number,
  text: string,
  rules: TargetRules,
  clock: Clock,
): Promise<Target | { readonly problem: TargetProblem }> =>
  withDeadline(clock, ms, () => checkTarget(text, rules)).catch((error: unknown) => {
    if (error instanceof DeadlineExceeded) return { problem: 'not-resolved' };
    throw error;
  });

const problemWith = ({ port, encrypted }: { readonly port: number; readonly encrypted: boolean }): TargetProblem => {
  if (!encrypted) return 'not-encrypted';
  return isOrdinaryPort(port) ? 'address-not-allowed' : 'port-not-allowed';
};

/** The port that a URL leads to. */
export const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80));

/** The host of a URL, an IPv6 address without its brackets. */
export const nameOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');
