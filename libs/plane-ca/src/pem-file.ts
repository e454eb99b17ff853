/** A key and its certificates share one file, so that they can only be replaced together. */
export const toPemFile = (keyPem: string, certificatePem: string): string =>
  `${keyPem.trim()}\n${certificatePem.trim()}\n`;

/** Takes such a file apart. @throws Error when a part is missing. */
export const fromPemFile = (text: string, path: string): { keyPem: string; certificatePem: string } => {
  const keyPem = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----/.exec(text)?.[0];
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (!keyPem || !certificates) throw new Error(`${path} does not hold a private key and its certificate`);
  return { keyPem, certificatePem: certificates.join('\n') };
};
