import { randomBytes } from 'node:crypto';
import { createPrivateFile, readPrivateFile } from '@rollcall/secret-file';

const KEY_BYTES = 32;

/** The key that seals addresses and secrets; or a sentence on why there is none, and what to do. */
export type WebhookKey =
  { readonly key: Buffer; readonly problem: null } | { readonly key: null; readonly problem: string };

/** Makes the key file (0600) where there is none yet; of starts at the same time one makes it. Instances on other hosts are given it. */
export const ensureWebhookKey = async (path: string): Promise<void> => {
  if ((await readPrivateFile(path)) === null)
    await createPrivateFile(path, `${randomBytes(KEY_BYTES).toString('base64url')}\n`);
};

/**
 * Reads the key from its owner-only file. It never fails: a service without the key does all else that it is there for.
 *
 * @param path null where none is configured
 */
export const readWebhookKey = async (path: string | null): Promise<WebhookKey> => {
  const without = (why: string): WebhookKey => ({ key: null, problem: `Webhooks wait: ${why}` });
  if (path === null) return without('ROLLCALL_WEBHOOK_KEY_FILE is not set.');
  try {
    const text = await readPrivateFile(path);
    if (text === null)
      return without(
        `there is no key at ${path}. Make one with: openssl rand -base64 32 | tr '+/' '-_' | tr -d = > FILE; chmod 600 FILE`,
      );
    const key = Buffer.from(text.toString('utf8').trim(), 'base64url');
    return key.length === KEY_BYTES
      ? { key, problem: null }
      : without(`the key in ${path} has not ${KEY_BYTES} bytes in base64url.`);
  } catch (error) {
    return without(`${error instanceof Error ? error.message : String(error)}.`);
  }
};
