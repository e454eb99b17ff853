import { statfs } from 'node:fs/promises';
import { Probe } from './probe.js';

const FULL_BELOW = 32 * 2 ** 20;
const FREE_FROM = 64 * 2 ** 20;

/** The part of `statfs` that counts; blocks of `bsize` bytes. */
export type FileSystemSpace = {
  readonly bsize: number;
  /** Blocks that an unprivileged process may still take. */
  readonly bavail: number;
  /** Inodes in all; 0 where the file system makes them as it goes (btrfs). */
  readonly files: number;
  readonly ffree: number;
};

/**
 * A disk is full below 32 MiB of free space or without a free inode, and not any more from 64 MiB on: in between it stays what it was, so
 * that it does not flap.
 */
export const isDiskFull = (wasFull: boolean, { bsize, bavail, files, ffree }: FileSystemSpace): boolean => {
  if (files > 0 && ffree === 0) return true;
  return bsize * bavail < (wasFull ? FREE_FROM : FULL_BELOW);
};

/** Looks for space on the file system of a directory. */
export class DiskProbe extends Probe {
  override readonly codes = ['disk-full'];
  readonly #path: string;
  readonly #space: (path: string) => Promise<FileSystemSpace>;
  #isFull = false;

  constructor(path: string, space: (path: string) => Promise<FileSystemSpace> = (of) => statfs(of)) {
    super();
    this.#path = path;
    this.#space = space;
  }

  override async probe(): Promise<readonly string[]> {
    this.#isFull = isDiskFull(this.#isFull, await this.#space(this.#path));
    return this.#isFull ? this.codes : [];
  }
}
