import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MetadataFiles, type ResumeMetadata } from './index.js';

let parent: string;
let directory: string;
let files: MetadataFiles;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'ssh-metadata-'));
  directory = join(parent, 'sessions');
  files = new MetadataFiles(directory);
});
afterEach(() => rm(parent, { recursive: true }));

const METADATA: ResumeMetadata = {
  target: { host: 'far.example', user: 'robin', port: 2222 },
  near: { kind: 'unix', path: '/run/user/1000/rollcall/far.sock' },
  farSocketPath: '/run/rollcall-agent/control.sock',
};

it('keeps what a resume needs in files that only their owner can read (O30)', async () => {
  await files.remember('one', METADATA);
  await files.remember('one', { ...METADATA, near: { kind: 'tcp' } });
  expect(await files.recall('one')).toEqual({ ...METADATA, near: { kind: 'tcp' } });
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect((await stat(join(directory, 'one.json'))).mode & 0o777).toBe(0o600);
});

it('forgets, and has nothing to say of what it never knew', async () => {
  await files.remember('one', METADATA);
  await files.forget('one');
  expect(await readdir(directory)).toEqual([]);
  await files.forget('one');
  expect(await files.recall('one')).toBeNull();
});

it('refuses a file that others can read (O30)', async () => {
  await files.remember('one', METADATA);
  await chmod(join(directory, 'one.json'), 0o644);
  await expect(files.recall('one')).rejects.toThrow('one.json');
});

it.each([
  ['nothing', ''],
  ['half of it', '{"target":{"host":"far'],
  ['a list', '[]'],
  ['no host', JSON.stringify({ ...METADATA, target: {} })],
  ['a user that is no text', JSON.stringify({ ...METADATA, target: { host: 'a', user: 1 } })],
  ['a port that is none', JSON.stringify({ ...METADATA, target: { host: 'a', port: 65_536 } })],
  ['no target', JSON.stringify({ ...METADATA, target: null })],
  ['another near end', JSON.stringify({ ...METADATA, near: { kind: 'pipe', path: 'x' } })],
  ['a near end without a path', JSON.stringify({ ...METADATA, near: { kind: 'unix' } })],
  ['no near end', JSON.stringify({ ...METADATA, near: null })],
  ['no far socket', JSON.stringify({ ...METADATA, farSocketPath: undefined })],
])('refuses a file with %s in it', async (_, text) => {
  await files.remember('one', METADATA);
  await writeFile(join(directory, 'one.json'), text);
  await expect(files.recall('one')).rejects.toThrow(/JSON|one\.json/);
});
