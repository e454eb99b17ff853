import type { Stats } from 'node:fs';

/** A file or directory that somebody else could have written or can read; it is neither used nor repaired. */
export class UnsafeFile extends Error {
  override readonly name = 'UnsafeFile';
}

/** Whose files we trust: our own. The effective user, because that is who opens them. */
export const ownUser = (): number => process.geteuid?.() ?? 0;

/** @throws UnsafeFile with one sentence for a person */
export const refuseUnlessPrivate = (path: string, stats: Stats): void => {
  if (!stats.isFile()) throw new UnsafeFile(`${path} is not a regular file`);
  if (stats.uid !== ownUser()) throw new UnsafeFile(`${path} belongs to user ${stats.uid}, not to ${ownUser()}`);
  if ((stats.mode & 0o077) !== 0)
    throw new UnsafeFile(`${path} can be read or written by others (mode ${(stats.mode & 0o777).toString(8)})`);
};
