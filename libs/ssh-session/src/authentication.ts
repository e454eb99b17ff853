import { readFile } from 'node:fs/promises';
import ssh2, { type AnyAuthMethod, type ParsedKey } from 'ssh2';
import type { Destination } from './destination.js';

/** How a person proves who they are: methods in the order in which they are tried, and what could not be used and why. */
export type Credentials = {
  readonly methods: readonly AnyAuthMethod[];
  /** One sentence each, told when nothing has worked. */
  readonly unusable: readonly string[];
};

/**
 * The keys that the ssh-agent holds, then the key files, as OpenSSH would try them. No key leaves this computer, and no passphrase is asked
 * for: a key that has one goes through the agent.
 */
export const credentialsFor = async (destination: Destination): Promise<Credentials> => {
  const { user: username, agent, identities, isIdentitiesOnly } = destination;
  const files = await Promise.all(identities.map(readIdentity));
  const unusable = files.flatMap(({ problem }) => problem ?? []);
  const methods: AnyAuthMethod[] = [];
  if (agent !== null) {
    const chosen = isIdentitiesOnly ? files.flatMap(({ publicBlob }) => publicBlob ?? []) : null;
    methods.push({ type: 'agent', username, agent: new ChosenKeys(agent, chosen) });
  }
  for (const { key } of files) if (key) methods.push({ type: 'publickey', username, key });
  if (methods.length === 0) unusable.push('there is neither an ssh-agent nor a key file that can be used');
  return { methods, unusable };
};

type Identity = { readonly key?: ParsedKey; readonly publicBlob?: Buffer; readonly problem?: string };

const readIdentity = async (path: string): Promise<Identity> => {
  let unreadable: string | undefined;
  const content = await readFile(path).catch(({ code }: NodeJS.ErrnoException) => {
    if (code !== 'ENOENT') unreadable = `${path} cannot be read (${code})`;
    return null;
  });
  const beside = await readFile(`${path}.pub`).catch(() => null);
  const publicBlob = beside && blobOf(beside);
  const known = publicBlob ? { publicBlob } : {};
  if (content === null) return { ...known, ...(unreadable === undefined ? {} : { problem: unreadable }) };
  const parsed = ssh2.utils.parseKey(content);
  // The library's types know one key; a file may hold several, of which OpenSSH writes one.
  const key = Array.isArray(parsed) ? (parsed[0] as ParsedKey) : parsed;
  if (key instanceof Error) {
    const why = /passphrase/i.test(key.message) ? 'has a passphrase' : `cannot be used here (${key.message})`;
    return { ...known, problem: `${path} ${why}: add it to the ssh-agent (ssh-add)` };
  }
  if (!key.isPrivateKey()) return { publicBlob: key.getPublicSSH() };
  return { key, publicBlob: key.getPublicSSH() };
};

const blobOf = (publicKey: Buffer): Buffer | null => {
  const parsed = ssh2.utils.parseKey(publicKey);
  return parsed instanceof Error ? null : parsed.getPublicSSH();
};

/** An ssh-agent that is asked for some of its keys only, where the person's configuration says so. */
class ChosenKeys extends ssh2.OpenSSHAgent {
  constructor(
    socketPath: string,
    private readonly chosen: readonly Buffer[] | null,
  ) {
    super(socketPath);
  }

  override getIdentities(done: (error: Error | undefined, keys?: ParsedKey[]) => void): void {
    super.getIdentities((error, keys) => {
      // No agent, or one that says nothing, is no reason not to try the files.
      if (error || !keys) return done(undefined, []);
      done(
        undefined,
        (keys as ParsedKey[]).filter((key) => this.#isChosen(key)),
      );
    });
  }

  #isChosen(key: ParsedKey): boolean {
    return this.chosen === null || this.chosen.some((blob) => blob.equals(key.getPublicSSH()));
  }
}
