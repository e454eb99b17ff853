import { readPrivateFile } from '@rollcall/secret-file';

/** How a role shows who it is. */
export type Credentials = { readonly user: string; readonly pass: string };

/**
 * Reads an owner-only file with one line `user:password`; the password may hold colons.
 *
 * @throws UnsafeFile, or Error that names the file and never what is in it
 */
export const readCredentials = async (path: string): Promise<Credentials> => {
  const content = await readPrivateFile(path);
  if (content === null) throw new Error(`There are no NATS credentials at ${path}`);
  const [, user, pass] = /^([^:\s]+):(\S+)\s*$/.exec(content.toString('utf8')) ?? [];
  if (user === undefined || pass === undefined) throw new Error(`${path} is not one line user:password`);
  return { user, pass };
};
