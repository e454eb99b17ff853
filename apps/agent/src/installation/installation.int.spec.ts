import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nextBoot } from './boot-counter.js';
import { identifierOf } from './identifier.js';
import { clearLatch, latchedSince, setLatch } from './latch.js';

let path: string;
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'installation-'));
  path = join(directory, 'file');
});
afterEach(() => rm(directory, { recursive: true }));

it('takes a wish to stop that it cannot read for one all the same (O7)', async () => {
  await setLatch(path, Date.UTC(2026, 0, 1));
  expect(await latchedSince(path)).toBe('2026-01-01T00:00:00.000Z');
  await chmod(path, 0o644);
  expect(await latchedSince(path)).toBe('an unknown time');
  await clearLatch(path);
  expect(await latchedSince(path)).toBeNull();
});

it('keeps its identifier, and does not make another for one that is damaged (C04)', async () => {
  const made = await identifierOf(path);
  expect(await identifierOf(path)).toBe(made);
  await writeFile(path, made.slice(0, 20));
  await expect(identifierOf(path)).rejects.toThrow('is damaged');
  expect(await readFile(path, 'utf8')).toBe(made.slice(0, 20));
});

it.each([
  ['41\n', 42],
  ['', 1],
  ['-3', 1],
  ['1.5', 1],
  [`${2 ** 31 - 2}`, 2 ** 31 - 1],
  [`${2 ** 31 - 1}`, 1],
])('counts on from %j to a start that the plane can store: %d', async (text, next) => {
  await writeFile(path, text, { mode: 0o600 });
  expect(await nextBoot(path)).toBe(next);
});
