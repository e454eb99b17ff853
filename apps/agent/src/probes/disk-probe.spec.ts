import { describe, expect, it } from '@jest/globals';
import { DiskProbe, isDiskFull, type FileSystemSpace } from './disk-probe.js';

const MIB = 2 ** 20;
const space = (over: Partial<FileSystemSpace> = {}): FileSystemSpace => ({
  bsize: 4_096,
  bavail: 1_000_000,
  files: 1_000,
  ffree: 500,
  ...over,
});
/** So many bytes are left. */
const left = (bytes: number): FileSystemSpace => space({ bsize: 1_024, bavail: bytes / 1_024 });

describe('a disk', () => {
  it('is full below 32 MiB of available space', () => {
    expect(isDiskFull(false, left(32 * MIB))).toBe(false);
    expect(isDiskFull(false, left(32 * MIB - 1_024))).toBe(true);
  });

  it('that was full is full until there are 64 MiB, so that it does not flap', () => {
    expect(isDiskFull(true, left(64 * MIB - 1_024))).toBe(true);
    expect(isDiskFull(true, left(64 * MIB))).toBe(false);
  });

  it('is full without a free inode, whatever space it has', () => {
    expect(isDiskFull(false, space({ ffree: 1 }))).toBe(false);
    expect(isDiskFull(false, space({ ffree: 0 }))).toBe(true);
  });

  it('has no limit of inodes where the file system counts none', () =>
    expect(isDiskFull(false, space({ files: 0, ffree: 0 }))).toBe(false));
});

describe('the probe of the disk', () => {
  it('remembers whether the disk was full', async () => {
    let now = left(40 * MIB);
    const asked: string[] = [];
    const probe = new DiskProbe('/state', (path) => {
      asked.push(path);
      return Promise.resolve(now);
    });
    await expect(probe.probe()).resolves.toEqual([]);
    now = left(MIB);
    await expect(probe.probe()).resolves.toEqual(['disk-full']);
    now = left(40 * MIB);
    await expect(probe.probe()).resolves.toEqual(['disk-full']);
    now = left(70 * MIB);
    await expect(probe.probe()).resolves.toEqual([]);
    expect(new Set(asked)).toEqual(new Set(['/state']));
  });
});
