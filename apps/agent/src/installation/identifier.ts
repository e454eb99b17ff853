import { readPrivateFile, writePrivateFile } from '@rollcall/secret-file';
import { randomUUID } from 'node:crypto';

/** The identifier of this installation; made at its first enrolment and kept. A damaged one is an error, not a new installation. */
export const identifierOf = async (path: string): Promise<string> => {
  const content = await readPrivateFile(path, 256);
  if (content === null) {
    const made = randomUUID();
    await writePrivateFile(path, `${made}\n`);
    return made;
  }
  const text = content.toString('utf8').trim();
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text))
    throw new Error(`${path} is damaged. Restore it, or remove it by hand to become a new installation.`);
  return text;
};
