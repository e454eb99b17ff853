import { writePrivateFile } from '@rollcall/secret-file';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { canonicalHosts, readIfThere, type PlaneAuthority } from './authority.js';
import type { CertifiedKey } from './certificate.js';
import { fromPemFile, toPemFile } from './pem-file.js';

/**
 * The certificate that a server shows, kept in `<directory>/<name>.pem` (0600) over restarts and shared by instances. It is issued
 * anew when less than a third of its life is left, when the hosts changed, or when the file is not one of this authority's.
 */
export const serverCertificate = async (
  authority: PlaneAuthority,
  request: {
    readonly directory: string;
    /** For example `machine-api`. */
    readonly name: string;
    readonly hosts: readonly string[];
    /** (Default: the clock) */
    readonly now?: Date;
  },
): Promise<CertifiedKey> => {
  const { now = new Date() } = request;
  const hosts = canonicalHosts(request.hosts);
  const path = join(request.directory, `${request.name}.pem`);
  const kept = await readIfThere(path);
  const usable = kept === null ? null : usableStill(kept, path, { authority, hosts, now });
  if (usable) return usable;
  const issued = await authority.issueServerCertificate({ hosts, now });
  await writePrivateFile(path, toPemFile(issued.keyPem, issued.certificatePem));
  return issued;
};

const usableStill = (
  text: string,
  path: string,
  { authority, hosts, now }: { authority: PlaneAuthority; hosts: readonly string[]; now: Date },
): CertifiedKey | null => {
  try {
    const { keyPem, certificatePem } = fromPemFile(text, path);
    const leaf = new X509Certificate(certificatePem);
    const matches =
      leaf.verify(new X509Certificate(authority.certificatePem).publicKey) &&
      leaf.checkPrivateKey(createPrivateKey(keyPem)) &&
      leaf.subjectAltName?.split(', ').length === hosts.length &&
      hosts.every((host) => (isIP(host) ? leaf.checkIP(host) : leaf.checkHost(host)) !== undefined);
    const end = leaf.validToDate.getTime();
    const life = end - leaf.validFromDate.getTime();
    return matches && end - now.getTime() > life / 3 ? { keyPem, certificatePem, notAfter: leaf.validToDate } : null;
  } catch {
    // Half a file, another tool's file: a certificate of ours costs a millisecond, so it is not worth a question.
    return null;
  }
};
