import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { link, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncDirectory } from './sync-directory.js';
import { temporaryName } from './temporary-name.js';
import { refuseUnlessPrivate, UnsafeFile } from './unsafe-file.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** How sure a write has to be. */
export type WriteOptions = {
  /**
   * Whether the content must survive a power cut when the call has returned. Without, a reader still never sees half of it, but after
   * a power cut it may be the old one. (Default: true)
   */
  readonly durable?: boolean;
};

/**
 * Replaces a file that only its owner may read, so that its name always stands for the whole old or the whole new content (O6).
 *
 * Temporary file in the same directory, 0600 before there is content; `fstat`; write; `fsync`; `rename`; `fsync` of the directory. When
 * the last step fails the call fails although the new content is in place: read the file again instead of assuming either.
 *
 * @throws UnsafeFile, or the error of the system call
 */
export const writePrivateFile = async (
  path: string,
  content: string | Uint8Array,
  { durable = true }: WriteOptions = {},
): Promise<void> => {
  await withTemporary(path, content, durable, (temporary) => rename(temporary, path));
  if (durable) await syncDirectory(dirname(path));
};

/**
 * Makes a private file where there is none, durably: of any number of callers exactly one wins, and nobody ever reads half of it.
 *
 * @returns false when there is something under that name already; it is not touched
 * @throws UnsafeFile, or the error of the system call
 */
export const createPrivateFile = async (path: string, content: string | Uint8Array): Promise<boolean> => {
  // A link fails where a rename would replace.
  const isMade = await withTemporary(path, content, true, async (temporary) => {
    const made = await link(temporary, path).then(() => true, falseWhereTaken);
    await unlink(temporary);
    return made;
  });
  await syncDirectory(dirname(path));
  return isMade;
};

/**
 * Reads a private file; null when there is none.
 *
 * @throws UnsafeFile for a symbolic link, another owner, a mode that lets others in, or more than `limit` bytes (Default: 65,536)
 */
export const readPrivateFile = async (path: string, limit = 65_536): Promise<Buffer | null> => {
  let opened: FileHandle;
  try {
    // O_NONBLOCK: a pipe under this name must not hold us up.
    opened = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') throw new UnsafeFile(`${path} is a symbolic link`, { cause: error });
    throw error;
  }
  return withFile(opened, async (file) => {
    const stats = await file.stat();
    refuseUnlessPrivate(path, stats);
    if (stats.size > limit) throw new UnsafeFile(`${path} is longer than ${limit} bytes`);
    return file.readFile();
  });
};

/**
 * Reads a private file while nothing else is running yet: settings are read in one go, so that all that is wrong with them is told at once.
 *
 * @throws UnsafeFile as `readPrivateFile`, or the error of the system call, also where there is no file
 */
export const readPrivateFileAtStart = (path: string): Buffer => {
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    refuseUnlessPrivate(path, fstatSync(file));
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
};

/** Removes a file for good, also across a power cut. Without effect when there is none. */
export const removePrivateFile = async (path: string): Promise<void> => {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await syncDirectory(dirname(path));
};

/** Puts a private file under another name of the same directory, durably; what stood there is replaced. */
export const renamePrivateFile = async (from: string, to: string): Promise<void> => {
  await rename(from, to);
  await syncDirectory(dirname(to));
};

/** Writes the content beside `path` and lets it be put in place; what is left of it after a failure is removed. */
const withTemporary = async <T>(
  path: string,
  content: string | Uint8Array,
  durable: boolean,
  putInPlace: (temporary: string) => Promise<T>,
): Promise<T> => {
  const temporary = join(dirname(path), temporaryName(basename(path)));
  try {
    await withFile(await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600), async (file) => {
      refuseUnlessPrivate(temporary, await file.stat());
      await file.writeFile(content);
      if (durable) await file.sync();
    });
    return await putInPlace(temporary);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
};

const falseWhereTaken = (error: NodeJS.ErrnoException): false => {
  if (error.code === 'EEXIST') return false;
  throw error;
};

const withFile = async <T>(file: FileHandle, work: (file: FileHandle) => Promise<T>): Promise<T> => {
  try {
    return await work(file);
  } finally {
    await file.close();
  }
};
