import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const OWNER_ONLY = 0o600;

const writeBeside = async (path: string, text: string): Promise<string> => {
  const draft = join(dirname(path), `.${randomBytes(8).toString('hex')}.draft`);
  const file = await open(draft, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(text, 'utf8');
    await file.sync();
  } finally {
    await file.close();
  }
  return draft;
};

/** Replaces a file as a whole, readable by its owner only: a reader sees the old text or the new one. */
export const replaceFile = async (path: string, text: string): Promise<void> => {
  const draft = await writeBeside(path, text);
  try {
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    throw cause;
  }
};

/** Makes a file with its whole content, readable by its owner only; false when somebody else was first. */
export const createFile = async (path: string, text: string): Promise<boolean> => {
  const draft = await writeBeside(path, text);
  try {
    // A link fails where a rename would overwrite, so of two starts exactly one wins and nobody ever reads half a file.
    await link(draft, path);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cause;
  } finally {
    await rm(draft, { force: true });
  }
};
