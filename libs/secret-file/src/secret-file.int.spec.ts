import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireRoot } from '../../../test/support/as-root.js';
import {
  createPrivateFile,
  ensurePrivateDirectory,
  readPrivateFile,
  removePrivateFile,
  removeTemporaries,
  renamePrivateFile,
  UnsafeFile,
  writePrivateFile,
} from './index.js';

let directory: string;
const path = (name: string) => join(directory, name);

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'private-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('a private file', () => {
  it('is written whole, for its owner only, and leaves nothing else behind (O6)', async () => {
    await writePrivateFile(path('secret'), 'first');
    await writePrivateFile(path('secret'), 'second', { durable: false });
    expect((await readPrivateFile(path('secret')))?.toString()).toBe('second');
    expect((await stat(path('secret'))).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['secret']);
  });

  it('has its mode whatever the umask is (O6)', async () => {
    const before = process.umask(0);
    try {
      await writePrivateFile(path('secret'), 'content');
    } finally {
      process.umask(before);
    }
    expect((await stat(path('secret'))).mode & 0o777).toBe(0o600);
  });

  it('stays as it was, without a trace beside it, when the new content cannot take its place (O6)', async () => {
    await mkdir(path('occupied'));
    await writeFile(path('occupied/inside'), '');
    await expect(writePrivateFile(path('occupied'), 'content')).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
    expect(await readdir(directory)).toEqual(['occupied']);
  });

  it('does not write through a symbolic link: the link is replaced, what it points at is not touched', async () => {
    await writeFile(path('elsewhere'), 'theirs');
    await symlink(path('elsewhere'), path('secret'));
    await writePrivateFile(path('secret'), 'ours');
    expect(await readFile(path('elsewhere'), 'utf8')).toBe('theirs');
  });

  it('is made once however many make it at the same time, and what stands there is not touched', async () => {
    const contents = Array.from({ length: 8 }, (_, number) => `content ${number}`);
    const made = await Promise.all(contents.map((content) => createPrivateFile(path('secret'), content)));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect((await readPrivateFile(path('secret')))?.toString()).toBe(contents[made.indexOf(true)]);
    expect((await stat(path('secret'))).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['secret']);
    await expect(createPrivateFile(path('no/directory'), 'content')).rejects.toThrow('ENOENT');
  });

  it('that is not there is null', async () => {
    await expect(readPrivateFile(path('nothing'))).resolves.toBeNull();
  });

  it('is refused when it is a link, a directory, too long, or open to others', async () => {
    await writeFile(path('real'), 'x', { mode: 0o600 });
    await symlink(path('real'), path('link'));
    await mkdir(path('directory'));
    await writeFile(path('open'), 'x');
    await chmod(path('open'), 0o640);
    await writeFile(path('long'), 'x'.repeat(11), { mode: 0o600 });
    for (const name of ['link', 'directory', 'open'])
      await expect(readPrivateFile(path(name))).rejects.toBeInstanceOf(UnsafeFile);
    await expect(readPrivateFile(path('long'), 10)).rejects.toThrow('longer than 10 bytes');
  });

  it('is refused when it belongs to somebody else', async () => {
    requireRoot('gives a file to somebody else');
    await writeFile(path('theirs'), 'x', { mode: 0o600 });
    await chown(path('theirs'), 12_345, 12_345);
    await expect(readPrivateFile(path('theirs'))).rejects.toThrow('belongs to user 12345');
  });

  it('can be renamed and removed, also when it is gone already', async () => {
    await writePrivateFile(path('next'), 'new');
    await writePrivateFile(path('live'), 'old');
    await renamePrivateFile(path('next'), path('live'));
    expect((await readPrivateFile(path('live')))?.toString()).toBe('new');
    await removePrivateFile(path('live'));
    await removePrivateFile(path('live'));
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('a private directory', () => {
  it('is made for its owner only, and narrowed when it is wider', async () => {
    await ensurePrivateDirectory(path('a/b'));
    expect((await stat(path('a/b'))).mode & 0o777).toBe(0o700);
    await chmod(path('a/b'), 0o755);
    await ensurePrivateDirectory(path('a/b'));
    expect((await stat(path('a/b'))).mode & 0o777).toBe(0o700);
  });

  it('is refused, and not narrowed, when it is made for sharing as /tmp is', async () => {
    await mkdir(path('shared'));
    await chmod(path('shared'), 0o1777);
    await expect(ensurePrivateDirectory(path('shared'))).rejects.toBeInstanceOf(UnsafeFile);
    expect((await stat(path('shared'))).mode & 0o7777).toBe(0o1777);
  });

  it('is refused when it is a link', async () => {
    await mkdir(path('real'));
    await symlink(path('real'), path('link'));
    await expect(ensurePrivateDirectory(path('link'))).rejects.toBeInstanceOf(UnsafeFile);
  });

  it('is freed of what a killed write left, and of nothing else (C04)', async () => {
    for (const name of ['.credential.123.0123456789ab.tmp', 'credential', 'notes.tmp', '.hidden'])
      await writeFile(path(name), '');
    await removeTemporaries(directory);
    expect((await readdir(directory)).sort()).toEqual(['.hidden', 'credential', 'notes.tmp']);
  });
});
