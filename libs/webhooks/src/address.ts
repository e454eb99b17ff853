import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/**
 * Addresses that a webhook does not go to unless an operator allows it: the plane's own host and network, and whatever leads to one by
 * another name. Of IPv6 only 2000::/3 is the internet, so everything else is in it; also an IPv4 address in the clothes of IPv6.
 */
const CLOSED = [
  ['0.0.0.0', 8], // this host
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // a carrier's NAT
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local, and the metadata of clouds
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16],
  ['198.18.0.0', 15], // benchmarks
  ['224.0.0.0', 3], // multicast, reserved, broadcast
  ['::', 3], // loopback, mapped IPv4, NAT64
  ['2001::', 23], // Teredo, ORCHID
  ['2002::', 16], // 6to4
  ['4000::', 2],
  ['8000::', 1], // private, link-local, site-local, multicast
] as const;

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** Only networks of the address's own family: to Node every IPv4 address is in ::/3 too. */
const isIn = (address: string, networks: readonly (readonly [network: string, prefix: number])[]): boolean => {
  const family = familyOf(address);
  const block = new BlockList();
  for (const [network, prefix] of networks) if (familyOf(network) === family) block.addSubnet(network, prefix, family);
  return block.check(address, family);
};

/** The addresses of this host, which may be of the internet: a plane does not talk to itself. */
const ownAddresses = (): readonly (readonly [network: string, prefix: number])[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.map(({ address }) => [address, isIP(address) === 4 ? 32 : 128] as const),
  );

/** HTTPS, as the world knows it. */
export const isOrdinaryPort = (port: number): boolean => port === 443 || port === 8_443;

/** Targets that an operator allows although they are private, or at a port that is named, also unencrypted. */
export type AllowedTarget = {
  readonly network: string;
  readonly prefix: number;
  /** null: the ordinary ones, 443 and 8443, and only over TLS. With one, plain HTTP may be used. */
  readonly port: number | null;
};

const ALLOWED_FORMS = [
  /^(?<network>[\d.]+)(?:\/(?<prefix>\d+))?(?::(?<port>\d+))?$/,
  /^\[(?<network>[\da-f:.]+)\](?:\/(?<prefix>\d+))?(?::(?<port>\d+))?$/i,
  /^(?<network>[\da-f:.]+)(?:\/(?<prefix>\d+))?$/i,
];

/** Reads `10.1.0.0/16`, `10.1.2.3:9000`, `10.1.0.0/16:9000`, `fd00::/8` or `[fd00::]/8:9000`; null for anything else. */
export const parseAllowedTarget = (text: string): AllowedTarget | null => {
  const found = ALLOWED_FORMS.map((form) => form.exec(text)?.groups).find(
    (groups) => groups && isIP(groups['network'] ?? ''),
  );
  if (found === undefined) return null;
  const network = found['network'] ?? '';
  const bits = isIP(network) === 4 ? 32 : 128;
  const prefix = Number(found['prefix'] ?? bits);
  const port = found['port'] === undefined ? null : Number(found['port']);
  return prefix <= bits && (port === null || (port > 0 && port <= 65_535)) ? { network, prefix, port } : null;
};

/** What is asked of an address: whether a webhook may connect to it, at this port and in this way. */
export type Connection = { readonly address: string; readonly port: number; readonly encrypted: boolean };

/**
 * An address of the internet over TLS at an ordinary port, or one that an operator allows.
 *
 * @param own those of the plane's own host (Default: of its network interfaces at present)
 */
export const mayConnect = (
  { address, port, encrypted }: Connection,
  allowed: readonly AllowedTarget[],
  own = ownAddresses(),
): boolean => {
  if (isIP(address) === 0) return false;
  if (encrypted && isOrdinaryPort(port) && !isIn(address, [...CLOSED, ...own])) return true;
  return allowed.some(
    (each) =>
      (each.port === null ? encrypted && isOrdinaryPort(port) : each.port === port) &&
      isIn(address, [[each.network, each.prefix]]),
  );
};
