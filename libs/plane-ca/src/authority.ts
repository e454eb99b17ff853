import { createPrivateFile } from '@rollcall/secret-file';
import { pinOf } from '@rollcall/wire';
import { X509Certificate } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { issueForServer, makeAuthority, readSigner, type CertifiedKey } from './certificate.js';
import { fromPemFile, toPemFile } from './pem-file.js';

const AUTHORITY_FILE = 'authority.pem';
const AUTHORITY_YEARS = 10;

/** The plane's own certificate authority: what agents pin, so that server certificates can change without their noticing. */
export type PlaneAuthority = {
  readonly certificatePem: string;
  /** `sha256/<base64 of the SHA-256 of the authority's SubjectPublicKeyInfo>`. */
  readonly pin: string;
  /**
   * Issues a certificate (serverAuth) and a key for DNS names and IP addresses.
   *
   * @throws Error when there is no host.
   */
  issueServerCertificate(request: {
    readonly hosts: readonly string[];
    /** (Default: 90) */
    readonly days?: number;
    /** (Default: the clock) */
    readonly now?: Date;
  }): Promise<CertifiedKey>;
};

/** Host names in one form: lower case, each once, IPv6 without brackets. */
export const canonicalHosts = (hosts: readonly string[]): string[] =>
  [
    ...new Set(
      hosts
        .map((host) => host.trim().toLowerCase())
        .map((host) => (isIP(host.slice(1, -1)) ? host.slice(1, -1) : host)),
    ),
  ]
    .filter((host) => host !== '')
    .sort();

/**
 * Loads the authority that lives in a directory, or makes it there: EC P-256, ten years, one file that only its owner reads
 * (`authority.pem`, 0600, in a directory that is made with 0700). Any number of starts at the same time end up with the same one.
 *
 * @throws Error when the file exists and is not an authority: it is never replaced, because every agent has pinned it.
 */
export const loadOrCreateAuthority = async (
  directory: string,
  { now = new Date() }: { readonly now?: Date } = {},
): Promise<PlaneAuthority> => {
  const path = join(directory, AUTHORITY_FILE);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const text = (await readIfThere(path)) ?? (await create(path, now));
  const { keyPem, certificatePem } = fromPemFile(text, path);
  const signer = await readSigner(certificatePem, keyPem).catch((cause: unknown) => {
    throw new Error(`${path} cannot be read as the plane's certificate authority`, { cause });
  });
  return {
    certificatePem,
    pin: pinOf(new X509Certificate(certificatePem).publicKey),
    issueServerCertificate: async ({ hosts, days = 90, now: at = new Date() }) => {
      const names = canonicalHosts(hosts);
      if (names.length === 0) throw new Error('A server certificate needs at least one host');
      return issueForServer(signer, { hosts: names, days, now: at });
    },
  };
};

const create = async (path: string, now: Date): Promise<string> => {
  const made = await makeAuthority(now, AUTHORITY_YEARS);
  const text = toPemFile(made.keyPem, made.certificatePem);
  return (await createPrivateFile(path, text)) ? text : readFile(path, 'utf8');
};

/** A file's text; null when there is none. */
export const readIfThere = (path: string): Promise<string | null> =>
  readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null;
    throw cause;
  });
