import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { loadOrCreateAuthority } from './authority.js';
import { serverCertificate } from './server-certificate.js';

/** What a TLS server shows: the certificate chain (leaf first) and the leaf's key, both PEM. */
export type TlsMaterial = { readonly certificatePem: string; readonly keyPem: string };

/** Where a server's certificate comes from, and comes from again while it runs. */
export interface TlsSource {
  /** What the server should show now. */
  readonly material: TlsMaterial;
  /** The authority's pins that agents are told; empty where agents verify by their system's store. */
  readonly pins: readonly string[];
  /**
   * Looks whether there is a newer certificate; true when `material` changed.
   *
   * @throws Error when the newer one cannot be used; `material` stays as it was.
   */
  refresh(): Promise<boolean>;
}

/** Either the plane's own authority in a directory, or certificate files that somebody else keeps fresh. */
export type TlsSettings =
  | { readonly directory: string; readonly name: string; readonly hosts: readonly string[] }
  | { readonly certificateFile: string; readonly keyFile: string };

/** Opens the source that the settings name. `now` is the clock. @throws Error when there is no usable certificate. */
export const openTls = async (settings: TlsSettings, now: () => Date = () => new Date()): Promise<TlsSource> => {
  if ('certificateFile' in settings) return sourceOf(await filesOf(settings), () => filesOf(settings), []);
  const authority = await loadOrCreateAuthority(settings.directory, { now: now() });
  const issue = () => serverCertificate(authority, { ...settings, now: now() });
  return sourceOf(await issue(), issue, [authority.pin]);
};

const sourceOf = (first: TlsMaterial, read: () => Promise<TlsMaterial>, pins: readonly string[]): TlsSource => {
  let material = first;
  return {
    get material() {
      return material;
    },
    pins,
    refresh: async () => {
      const newer = await read();
      const changed = newer.certificatePem !== material.certificatePem || newer.keyPem !== material.keyPem;
      material = newer;
      return changed;
    },
  };
};

const filesOf = async ({
  certificateFile,
  keyFile,
}: {
  certificateFile: string;
  keyFile: string;
}): Promise<TlsMaterial> => {
  const [certificatePem, keyPem] = await Promise.all([readFile(certificateFile, 'utf8'), readFile(keyFile, 'utf8')]);
  // Two files are replaced one after the other; what does not belong together is not shown to anybody.
  if (!new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem)))
    throw new Error(`The key in ${keyFile} does not belong to the certificate in ${certificateFile}`);
  return { certificatePem, keyPem };
};
