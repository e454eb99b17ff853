import { pinOf } from '@rollcall/wire';
import { X509Certificate } from 'node:crypto';
import { checkServerIdentity, type DetailedPeerCertificate } from 'node:tls';
import { TransportError } from './transport-error.js';

const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1';
const LONGEST_CHAIN = 4;

/** What has to be true of the other side before a byte is sent to it. */
export type Expected = {
  readonly host: string;
  /** Pins of the authority's key; one match is enough. */
  readonly pins: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
};

/**
 * Proves that a presented chain (leaf first) ends in a pinned authority, and returns the pin that matched.
 *
 * The pin is that of the authority's key and not of the leaf's, so a server certificate changes without anybody noticing. Dates are looked at last: only a certificate of the right authority may tell a machine that its clock is wrong.
 *
 * @throws TransportError with a `certificate-…` code
 */
export const proveServerIdentity = (presented: DetailedPeerCertificate, expected: Expected): string => {
  const chain = chainOf(presented);
  const [leaf] = chain;
  if (!leaf) throw new TransportError('certificate-untrusted', 'The server presented no certificate');
  const path = pathToPin(chain, expected.pins);
  if (!path) throw new TransportError('certificate-not-pinned', 'The server does not hold the key that was expected');
  if (leaf.keyUsage && !leaf.keyUsage.includes(SERVER_AUTHENTICATION))
    throw new TransportError('certificate-untrusted', 'The certificate is not one for a server');
  const mismatch = checkServerIdentity(expected.host, presented);
  if (mismatch) throw new TransportError('certificate-other-host', mismatch.message, { cause: mismatch });
  for (const certificate of path.certificates) refuseOutOfDate(certificate, expected.now);
  return path.pin;
};

const chainOf = (presented: DetailedPeerCertificate): X509Certificate[] => {
  const chain: X509Certificate[] = [];
  const seen = new Set<string>();
  let next: DetailedPeerCertificate | undefined = presented;
  while (next?.raw && !seen.has(next.fingerprint256) && chain.length < LONGEST_CHAIN) {
    seen.add(next.fingerprint256);
    chain.push(new X509Certificate(next.raw));
    next = next.issuerCertificate;
  }
  return chain;
};

/** Walks up while each certificate is really signed by the next one, until an authority's key is a pinned one. */
const pathToPin = (
  chain: readonly X509Certificate[],
  pins: readonly string[],
): { pin: string; certificates: readonly X509Certificate[] } | null => {
  for (let place = 0; place + 1 < chain.length; place += 1) {
    const [subject, issuer] = [chain[place], chain[place + 1]];
    if (!subject || !issuer?.ca || !subject.checkIssued(issuer) || !subject.verify(issuer.publicKey)) return null;
    const pin = pinOf(issuer.publicKey);
    if (pins.includes(pin)) return { pin, certificates: chain.slice(0, place + 2) };
  }
  return null;
};

const refuseOutOfDate = (certificate: X509Certificate, now: number): void => {
  if (now < Date.parse(certificate.validFrom))
    throw new TransportError(
      'certificate-not-yet-valid',
      `The certificate is valid from ${certificate.validFrom}, which is still to come by this machine's clock`,
    );
  if (now > Date.parse(certificate.validTo))
    throw new TransportError('certificate-expired', `The certificate was valid until ${certificate.validTo}`);
};
