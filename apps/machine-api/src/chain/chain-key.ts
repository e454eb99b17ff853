import { createPrivateFile, readPrivateFile } from '@rollcall/secret-file';
import { randomBytes } from 'node:crypto';

const KEY_BYTES = 32;

/** Makes the key file (0600) where there is none yet; of starts at the same time one makes it. Instances on other hosts are given it. */
export const ensureChainKey = async (path: string): Promise<void> => {
  if ((await readPrivateFile(path)) === null)
    await createPrivateFile(path, `${randomBytes(KEY_BYTES).toString('base64url')}\n`);
};

/**
 * Reads the key of the chain tokens.
 *
 * @throws Error when the file is missing, readable by others, or holds less than 256 bits in base64url.
 */
export const readChainKey = async (path: string): Promise<Buffer> => {
  const text = await readPrivateFile(path);
  if (!text)
    throw new Error(
      `There is no chain key at ${path}; make one with: openssl rand -base64 32 | tr '+/' '-_' | tr -d = > FILE`,
    );
  const key = Buffer.from(text.toString('utf8').trim(), 'base64url');
  if (key.length < KEY_BYTES)
    throw new Error(`The chain key in ${path} is shorter than ${KEY_BYTES} bytes in base64url`);
  return key;
};
