import { expect, it } from '@jest/globals';
import { readOperatorApiConfig } from './config.js';

const least = {
  ROLLCALL_DATABASE_URL: 'postgres://127.0.0.1/rollcall',
  ROLLCALL_CA_DIR: '/var/lib/rollcall/tls',
};

it('needs a database and a place for certificates, and has a default for the rest', () =>
  expect(readOperatorApiConfig(least)).toEqual({
    database: { url: least.ROLLCALL_DATABASE_URL, migrations: 'infra/migrations' },
    provider: null,
    freshSeconds: 900,
    idleSeconds: 1_800,
    httpsOnlySeconds: null,
    gapSeconds: 15,
    host: '127.0.0.1',
    pageDirectory: expect.stringMatching(/\/dashboard$/),
    port: 8_444,
    tls: { directory: least.ROLLCALL_CA_DIR, name: 'operator-api', hosts: ['localhost', '127.0.0.1', '::1'] },
    machineApi: { address: 'https://127.0.0.1:8443', pins: null },
    webhooks: { keyFile: null, allowed: [], ca: null },
    metrics: null,
    traces: null,
    logLevel: 'info',
  }));

it('names every problem at the same time', () => {
  const read = () =>
    readOperatorApiConfig({
      ROLLCALL_OPERATOR_API_PORT: '99999',
      ROLLCALL_TLS_KEY_FILE: '/key.pem',
      ROLLCALL_MACHINE_API_ADDRESS: 'https://plane/path',
      ROLLCALL_MACHINE_API_PINS: 'sha1/abc',
    });
  for (const name of ['DATABASE_URL', 'CA_DIR', 'API_PORT', 'TLS_KEY_FILE', 'API_ADDRESS', 'API_PINS'])
    expect(read).toThrow(new RegExp(`ROLLCALL_[A-Z_]*${name}`));
});

it('takes certificate files in place of the plane’s own authority, and a machine API with a public certificate', () =>
  expect(
    readOperatorApiConfig({
      ROLLCALL_DATABASE_URL: least.ROLLCALL_DATABASE_URL,
      ROLLCALL_TLS_CERT_FILE: '/cert.pem',
      ROLLCALL_TLS_KEY_FILE: '/key.pem',
      ROLLCALL_MACHINE_API_PINS: 'none',
    }),
  ).toMatchObject({
    tls: { certificateFile: '/cert.pem', keyFile: '/key.pem' },
    machineApi: { pins: [] },
  }));

it.each<[string | undefined, boolean, number | null]>([
  [undefined, true, 31_536_000],
  ['0', true, 0],
  [undefined, false, null],
  ['3600', false, 3_600],
])(
  'tells browsers to use HTTPS alone where the certificate is one for browsers, or who sets it up says so: %s, files %s',
  (seconds, files, expected) =>
    expect(
      readOperatorApiConfig({
        ...least,
        ...(files && { ROLLCALL_TLS_CERT_FILE: '/cert.pem', ROLLCALL_TLS_KEY_FILE: '/key.pem' }),
        ...(seconds && { ROLLCALL_HSTS_SECONDS: seconds }),
      }).httpsOnlySeconds,
    ).toBe(expected),
);
