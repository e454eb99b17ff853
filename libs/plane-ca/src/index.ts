export { canonicalHosts, loadOrCreateAuthority } from './authority.js';
export type { PlaneAuthority } from './authority.js';
export type { CertifiedKey } from './certificate.js';
export { serverCertificate } from './server-certificate.js';
export { openTls } from './tls-source.js';
export type { TlsMaterial, TlsSettings, TlsSource } from './tls-source.js';
