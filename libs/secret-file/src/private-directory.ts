import { chmod, lstat, mkdir, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isTemporary } from './temporary-name.js';
import { ownUser, UnsafeFile } from './unsafe-file.js';

/**
 * Makes a directory that only its owner can enter (0700), or narrows one of ours that is wider: service managers create theirs with 0755.
 *
 * @throws UnsafeFile for a symbolic link, something that is no directory, one that is made for sharing (sticky), or another owner
 */
export const ensurePrivateDirectory = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const stats = await lstat(path);
  if (!stats.isDirectory()) throw new UnsafeFile(`${path} is not a directory`);
  if (stats.uid !== ownUser()) throw new UnsafeFile(`${path} belongs to user ${stats.uid}, not to ${ownUser()}`);
  // Of /tmp, say, root is the owner, and everybody else the user.
  if ((stats.mode & 0o1000) !== 0) throw new UnsafeFile(`${path} is shared with others`);
  if ((stats.mode & 0o077) !== 0) await chmod(path, 0o700);
};

/** Removes what a write left behind that was killed half way. For the start of the one process that owns the directory. */
export const removeTemporaries = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory)) if (isTemporary(name)) await unlink(join(directory, name));
};
