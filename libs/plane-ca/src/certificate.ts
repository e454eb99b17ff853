// The X.509 library finds its algorithms through a container that wants this polyfill before it is loaded.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

const KEY = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;

/** A key and its certificate. */
export type Signer = { readonly certificate: x509.X509Certificate; readonly privateKey: webcrypto.CryptoKey };
/** The same, as they are written to files: PEM, the certificate first of its chain. */
export type CertifiedKey = { readonly certificatePem: string; readonly keyPem: string; readonly notAfter: Date };

const makeKeys = (): Promise<webcrypto.CryptoKeyPair> => webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']);

const keyToPem = async (key: webcrypto.CryptoKey): Promise<string> =>
  x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');

// Machines with a clock that is a little behind must be able to connect on the day that the plane was set up.
const aDayBefore = (now: Date): Date => new Date(now.getTime() - DAY_MS);

/** Makes a certificate authority that may sign end certificates and nothing below them. */
export const makeAuthority = async (now: Date, years: number): Promise<CertifiedKey> => {
  const keys = await makeKeys();
  const notAfter = new Date(now.getTime() + years * 365.25 * DAY_MS);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: ['Rollcall plane CA'] }],
    keys,
    notBefore: aDayBefore(now),
    notAfter,
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificatePem: certificate.toString('pem'), keyPem: await keyToPem(keys.privateKey), notAfter };
};

/** Reads what `makeAuthority` made. */
export const readSigner = async (certificatePem: string, keyPem: string): Promise<Signer> => ({
  certificate: new x509.X509Certificate(certificatePem),
  privateKey: await webcrypto.subtle.importKey('pkcs8', x509.PemConverter.decodeFirst(keyPem), KEY, false, ['sign']),
});

/** Issues a server certificate for DNS names and addresses; its life ends with the authority's at the latest. */
export const issueForServer = async (
  authority: Signer,
  { hosts, now, days }: { hosts: readonly string[]; now: Date; days: number },
): Promise<CertifiedKey> => {
  const keys = await makeKeys();
  const notAfter = new Date(Math.min(now.getTime() + days * DAY_MS, authority.certificate.notAfter.getTime()));
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: ['Rollcall plane'] }],
    issuer: authority.certificate.subjectName,
    publicKey: keys.publicKey,
    signingKey: authority.privateKey,
    notBefore: aDayBefore(now),
    notAfter,
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isIP(host) ? ('ip' as const) : ('dns' as const), value: host })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(authority.certificate),
    ],
  });
  return {
    // The authority travels with the leaf: an agent knows nothing but the pin of its key.
    certificatePem: `${certificate.toString('pem')}\n${authority.certificate.toString('pem')}`,
    keyPem: await keyToPem(keys.privateKey),
    notAfter,
  };
};
