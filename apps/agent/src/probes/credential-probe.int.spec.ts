import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { makeSecret } from '@rollcall/wire';
import { chmod, chown, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireRoot } from '../../../../test/support/as-root.js';
import type { Key } from '../check/enrolment.js';
import { writeCredential } from '../installation/credential-file.js';
import { CredentialProbe } from './credential-probe.js';

const key = (generation = 1): Key => ({ secret: makeSecret('rcm'), generation, address: 'https://plane.example' });

let root: string;
let place: { credential: string; nextCredential: string };
let inUse: Key | null;
let cannotKeepNext = false;
let probe: CredentialProbe;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'credential-probe-'));
  place = { credential: join(root, 'credential'), nextCredential: join(root, 'credential.next') };
  inUse = key();
  await writeCredential(place.credential, inUse);
  probe = new CredentialProbe(
    place,
    () => inUse,
    () => cannotKeepNext,
  );
});
afterEach(() => rm(root, { recursive: true, force: true }));

const BLOCKED = ['credential-unreadable'];

describe('the credential of a running agent', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['is gone', () => rm(place.credential)],
    ['can be read by others', () => chmod(place.credential, 0o640)],
    [
      'is a symbolic link',
      () => rename(place.credential, `${root}/away`).then(() => symlink(`${root}/away`, place.credential)),
    ],
    ['is damaged', () => writeFile(place.credential, Buffer.alloc(512))],
    ['holds another key', () => writeCredential(place.credential, key(2))],
    [
      'is a directory',
      () =>
        rm(place.credential)
          .then(() => mkdtemp(`${root}/d`))
          .then((made) => rename(made, place.credential)),
    ],
  ])('blocks when its file %s, and not any more when that is repaired (O21)', async (_, harm) => {
    await expect(probe.probe()).resolves.toEqual([]);
    await harm();
    await expect(probe.probe()).resolves.toEqual(BLOCKED);
    await rm(place.credential, { recursive: true, force: true });
    await writeCredential(place.credential, inUse as Key);
    await expect(probe.probe()).resolves.toEqual([]);
  });

  it('blocks when its file belongs to somebody else (O21)', async () => {
    requireRoot('gives a file to somebody else');
    await chown(place.credential, 12_345, 12_345);
    await expect(probe.probe()).resolves.toEqual(BLOCKED);
  });

  it('may be the pending one of a rotation, before and after it has taken its place', async () => {
    const old = inUse;
    inUse = key(2);
    await writeCredential(place.nextCredential, inUse);
    await expect(probe.probe()).resolves.toEqual([]);
    inUse = old;
    await expect(probe.probe()).resolves.toEqual([]);
    inUse = null;
    await rename(place.nextCredential, place.credential);
    await expect(probe.probe()).resolves.toEqual([]);
  });

  it('blocks while the next one cannot be kept beside it (O21)', async () => {
    cannotKeepNext = true;
    await expect(probe.probe()).resolves.toEqual(BLOCKED);
    cannotKeepNext = false;
    await expect(probe.probe()).resolves.toEqual([]);
  });

  it('changes nothing and repairs nothing', async () => {
    await chmod(place.credential, 0o644);
    const before = await readFile(place.credential, 'utf8');
    await probe.probe();
    expect(await readFile(place.credential, 'utf8')).toBe(before);
  });

  it('has nothing to say as long as none is in use', async () => {
    inUse = null;
    await rm(place.credential);
    await expect(probe.probe()).resolves.toEqual([]);
  });
});
