import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HostKeyChanged, PinStore, PinStoreUnusable } from './index.js';

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-pins-'));
  file = join(directory, 'ssh-host-keys.json');
});
afterEach(() => rm(directory, { recursive: true }));

const KEY = { type: 'ssh-ed25519', blob: Buffer.from('a key').toString('base64') };
const HOSTS = Array.from({ length: 12 }, (_, number) => `host-${number}`);

it('keeps every key that is confirmed at the same time, and the record of each (C30)', async () => {
  // Each has a store of its own, as each process has: the file is all that they share.
  await Promise.all(HOSTS.map((host) => new PinStore(file).pin(host, KEY, null, new Date())));
  const pins = new PinStore(file);
  for (const host of HOSTS) expect(await pins.pinOf(host)).toMatchObject(KEY);
  expect((await pins.events()).map(({ host }) => host).toSorted()).toEqual(HOSTS.toSorted());
  expect(await readdir(directory)).toEqual(['ssh-host-keys.json']);
});

it('keeps a key that was confirmed meanwhile, and not the one that was asked about before (C30)', async () => {
  const [one, other] = ['one', 'other'].map((name) => ({ ...KEY, blob: Buffer.from(name).toString('base64') }));
  const pins = new PinStore(file);
  await pins.pin('host', one!, null, new Date());
  await expect(pins.pin('host', other!, null, new Date())).rejects.toThrow(HostKeyChanged);
  await expect(pins.pin('host', other!, KEY, new Date())).rejects.toThrow(HostKeyChanged);
  expect(await pins.pinOf('host')).toMatchObject(one!);
  // Who was asked about that one, and who confirmed the same.
  await pins.pin('host', other!, one!, new Date());
  await pins.pin('host', other!, null, new Date());
  expect(await pins.pinOf('host')).toMatchObject(other!);
});

it('pins nothing where another process holds the file, and says which file to remove if there is none (C30)', async () => {
  await writeFile(`${file}.lock`, '', { mode: 0o600 });
  const pinning = new PinStore(file).pin('host', KEY, null, new Date());
  await expect(pinning).rejects.toThrow(PinStoreUnusable);
  await expect(pinning).rejects.toThrow(`remove ${file}.lock`);
  expect(await new PinStore(file).pinOf('host')).toBeNull();
});

it('is not followed through a symbolic link, neither to read nor to pin (C30)', async () => {
  const pins = new PinStore(file);
  await pins.pin('host', KEY, null, new Date());
  await rename(file, join(directory, 'elsewhere'));
  await symlink('elsewhere', file);
  await expect(pins.pinOf('host')).rejects.toThrow(PinStoreUnusable);
  await expect(pins.pin('host', KEY, null, new Date())).rejects.toThrow(PinStoreUnusable);
  expect((await readdir(directory)).toSorted()).toEqual(['elsewhere', 'ssh-host-keys.json']);
});

it.each(['__proto__', 'constructor', 'toString'])(
  'knows a host of the name %s only when it was pinned (C30)',
  async (host) => {
    const pins = new PinStore(file);
    await pins.pin('another', KEY, null, new Date());
    expect(await pins.pinOf(host)).toBeNull();
    await pins.pin(host, KEY, null, new Date());
    expect(await new PinStore(file).pinOf(host)).toMatchObject(KEY);
  },
);
