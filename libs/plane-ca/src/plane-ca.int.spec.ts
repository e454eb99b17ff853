import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pinOf } from '@rollcall/wire';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tls from 'node:tls';
import { loadOrCreateAuthority, openTls, serverCertificate, type TlsMaterial } from './index.js';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-11-29T12:00:00Z');
const later = (days: number): Date => new Date(NOW.getTime() + days * DAY_MS);
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plane-ca-'));
});
afterEach(() => rm(directory, { recursive: true }));

const certificatesIn = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (one) => new X509Certificate(one),
  );

it('makes one authority however many starts ask at once, readable by its owner only', async () => {
  const made = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateAuthority(directory)));
  expect(new Set(made.map(({ pin }) => pin)).size).toBe(1);
  expect((await loadOrCreateAuthority(directory)).pin).toBe(made[0]?.pin);
  expect(await readdir(directory)).toEqual(['authority.pem']);
  expect((await stat(join(directory, 'authority.pem'))).mode & 0o777).toBe(0o600);
});

it('never replaces an authority that it cannot read, because agents have pinned it', async () => {
  await writeFile(join(directory, 'authority.pem'), 'not a key');
  await expect(loadOrCreateAuthority(directory)).rejects.toThrow(/authority\.pem does not hold/);
  expect(await readFile(join(directory, 'authority.pem'), 'utf8')).toBe('not a key');
});

it('is an EC P-256 authority of ten years whose pin is the SHA-256 of its SPKI', async () => {
  const authority = await loadOrCreateAuthority(directory, { now: NOW });
  const certificate = new X509Certificate(authority.certificatePem);
  expect(certificate.ca).toBe(true);
  expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  expect(certificate.validToDate.getUTCFullYear()).toBe(2036);
  const spki = certificate.publicKey.export({ type: 'spki', format: 'der' });
  expect(authority.pin).toBe(`sha256/${createHash('sha256').update(spki).digest('base64')}`);
  expect(authority.pin).toMatch(/^sha256\/[A-Za-z0-9+/]{43}=$/);
});

it('issues a chain that verifies, for names and addresses, for servers only, for 90 days', async () => {
  const authority = await loadOrCreateAuthority(directory, { now: NOW });
  const hosts = ['plane.example', 'localhost', '127.0.0.1', '[::1]'];
  const issued = await authority.issueServerCertificate({ hosts, now: NOW });
  const [leaf, root, ...rest] = certificatesIn(issued.certificatePem);
  if (!leaf || !root) throw new Error('no chain');
  expect(rest).toEqual([]);
  expect(leaf.checkIssued(root) && leaf.verify(root.publicKey) && root.verify(root.publicKey)).toBe(true);
  expect(pinOf(root.publicKey)).toBe(authority.pin);
  expect(leaf.ca).toBe(false);
  expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(leaf.checkHost('plane.example')).toBe('plane.example');
  expect(leaf.checkHost('other.example')).toBeUndefined();
  expect(leaf.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(leaf.checkIP('::1')).toBe('::1');
  expect(issued.notAfter).toEqual(later(90));
  expect(leaf.validToDate).toEqual(later(90));
});

it('keeps the server certificate until less than a third of its life is left or the hosts change', async () => {
  const authority = await loadOrCreateAuthority(directory, { now: NOW });
  const certificate = (hosts: string[], now: Date) =>
    serverCertificate(authority, { directory, name: 'machine-api', hosts, now }).then((one) => one.certificatePem);
  const first = await certificate(['b.example', 'a.example'], NOW);
  expect(await certificate(['a.example', 'B.example'], later(59))).toBe(first);
  expect((await stat(join(directory, 'machine-api.pem'))).mode & 0o777).toBe(0o600);
  const renewed = await certificate(['a.example', 'b.example'], later(60));
  expect(renewed).not.toBe(first);
  const fewer = await certificate(['a.example'], later(60));
  expect(fewer).not.toBe(renewed);
  expect(await certificate(['a.example', 'c.example'], later(60))).not.toBe(fewer);
});

it('issues anew when the kept file is damaged or of another authority', async () => {
  const authority = await loadOrCreateAuthority(directory);
  const request = { directory, name: 'machine-api', hosts: ['localhost'] };
  const first = await serverCertificate(authority, request);
  await writeFile(join(directory, 'machine-api.pem'), first.keyPem);
  const second = await serverCertificate(authority, request);
  expect(second.certificatePem).not.toBe(first.certificatePem);
  const other = await loadOrCreateAuthority(join(directory, 'other'));
  const third = await serverCertificate(other, request);
  expect(certificatesIn(third.certificatePem)[1]?.toString()).toBe(
    new X509Certificate(other.certificatePem).toString(),
  );
});

it('shows certificate files of somebody else without pins, follows their replacement, and refuses a key that does not fit', async () => {
  const authority = await loadOrCreateAuthority(directory);
  const settings = { certificateFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') };
  const put = async (certificate: TlsMaterial, key: TlsMaterial) => {
    await writeFile(settings.certificateFile, certificate.certificatePem);
    await writeFile(settings.keyFile, key.keyPem);
  };
  const old = await authority.issueServerCertificate({ hosts: ['localhost'] });
  const next = await authority.issueServerCertificate({ hosts: ['localhost'] });
  await put(old, old);
  const source = await openTls(settings);
  expect(source.pins).toEqual([]);
  expect(await source.refresh()).toBe(false);
  await put(next, old);
  await expect(source.refresh()).rejects.toThrow(/does not belong/);
  expect(source.material.certificatePem).toBe(old.certificatePem);
  await put(next, next);
  expect(await source.refresh()).toBe(true);
  expect(source.material.certificatePem).toBe(next.certificatePem);
});

it('renews its own certificate as time passes, under the same pin, and a TLS 1.3 client that trusts the authority connects throughout', async () => {
  let now = new Date(Date.now() - 70 * DAY_MS);
  const source = await openTls({ directory, name: 'machine-api', hosts: ['localhost'] }, () => now);
  const authority = await loadOrCreateAuthority(directory);
  expect(source.pins).toEqual([authority.pin]);
  const options = ({ certificatePem, keyPem }: TlsMaterial) => ({ cert: certificatePem, key: keyPem });
  const server = tls.createServer({ ...options(source.material), minVersion: 'TLSv1.3' }, (socket) =>
    socket.end('hello'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const shown = async (): Promise<{ fingerprint: string; protocol: string | null }> => {
    const socket = tls.connect({ host: '127.0.0.1', port, servername: 'localhost', ca: authority.certificatePem });
    await once(socket, 'secureConnect');
    const answer = {
      fingerprint: socket.getPeerX509Certificate()?.fingerprint256 ?? '',
      protocol: socket.getProtocol(),
    };
    socket.resume();
    await once(socket, 'close');
    return answer;
  };
  try {
    const before = await shown();
    expect(before.protocol).toBe('TLSv1.3');
    now = new Date();
    expect(await source.refresh()).toBe(true);
    server.setSecureContext(options(source.material));
    const after = await shown();
    expect(after.fingerprint).not.toBe(before.fingerprint);
    expect(certificatesIn(source.material.certificatePem)[1]?.toString()).toBe(
      new X509Certificate(authority.certificatePem).toString(),
    );
  } finally {
    server.close();
    await once(server, 'close');
  }
});
