import { readFile } from 'node:fs/promises';
import ssh2, { type AnyAuthMethod, type ParsedKey } from 'ssh2';
import type { Destination } from './destination.js';
import type { DialLimit } from './dial-limit.js';
import { SshAgent } from './ssh-agent.js';

/** Nothing that we have was accepted, or nothing was there to try. */
export class NotAuthenticated extends Error {
  override readonly name = 'NotAuthenticated';
}

/** A key that may be shown to a host. */
type Proof = { readonly blob: Buffer; readonly method: AnyAuthMethod };

/** How a person proves to one host who they are: what is tried next, and in the end why nothing has worked. */
export class Authentication {
  readonly #shown = new Set<string>();
  /** What the host would still take, as it says when it has refused something. */
  #accepted: readonly string[] | null = null;
  #tookKeys = false;
  #signatures = 0;

  private constructor(
    private readonly destination: Destination,
    private readonly agent: SshAgent | null,
    private readonly proofs: Proof[],
    /** One sentence each, told when nothing has worked. */
    private readonly unusable: readonly string[],
  ) {}

  /**
   * As OpenSSH would try them: the keys of the ssh-agent that are those of the key files, its other keys, then the key files; but a file that
   * was named for this dial comes before keys that nobody has named, because a host ends the connection after a few. No key leaves this
   * computer, and no passphrase is asked for: a key that has one goes through the agent.
   *
   * @param over aborted when the dial has ended, in whatever way
   */
  static async prepare(destination: Destination, limit: DialLimit, over: AbortSignal): Promise<Authentication> {
    const { user: username, agent: path, identities, named, isIdentitiesOnly } = destination;
    const agent = path === null ? null : new SshAgent(path, limit, over);
    const [files, listed] = await Promise.all([Promise.all(identities.map(readIdentity)), agent?.keys() ?? []]);
    const held = typeof listed === 'string' ? [] : listed;
    const byAgent = (key: ParsedKey): Proof => ({
      blob: key.getPublicSSH(),
      method: { type: 'agent', username, agent: agent!.only(key) },
    });
    const first: Proof[] = [];
    const last: Proof[] = [];
    const unusable = typeof listed === 'string' ? [listed] : [];
    for (const { file, key, publicBlob, problem } of files) {
      const same = held.find((each) => publicBlob?.equals(each.getPublicSSH()));
      if (same) first.push(byAgent(same));
      else if (problem !== undefined) unusable.push(problem);
      // Also of a key that the agent holds: it may not sign.
      if (key)
        (same || named.includes(file) ? first : last).push({
          blob: key.getPublicSSH(),
          method: { type: 'publickey', username, key },
        });
    }
    if (held.length > 0 && isIdentitiesOnly && first.length === 0)
      unusable.push('the ssh-agent holds none of the keys that are configured, and may be asked for no other');
    if (agent === null && last.length === 0 && first.length === 0)
      unusable.push('there is neither an ssh-agent nor a key file that can be used');
    const others = isIdentitiesOnly ? [] : held.map(byAgent);
    return new Authentication(destination, agent, onceByAgent([...first, ...others, ...last]), unusable);
  }

  /**
   * What ssh2 tries next. The first is nothing at all, which counts as no failure and makes the host say what it takes. What became of a
   * key of the agent it does not tell, so where one has signed and we are not in, the host is asked again.
   *
   * @param accepted what the host would still take; null where ssh2 does not know
   */
  readonly next = (accepted: readonly string[] | null): AnyAuthMethod | false => {
    const { user: username } = this.destination;
    const signatures = this.agent?.signatures ?? 0;
    if (this.#accepted === null && accepted === null) return { type: 'none', username };
    this.#accepted = accepted ?? this.#accepted;
    if (signatures > this.#signatures) {
      this.#signatures = signatures;
      return { type: 'none', username };
    }
    if (!this.#takesKeys) return false;
    this.#tookKeys = true;
    const proof = this.#nextProof();
    if (!proof) return false;
    this.#shown.add(proof.blob.toString('base64'));
    return proof.method;
  };

  /** The error for a person where a host did not let us in, made of what ssh2 says; null where it says something else. */
  refusal(cause: unknown): NotAuthenticated | null {
    const { level, code, message } = cause as { level?: unknown; code?: unknown; message: string };
    const { host, user } = this.destination;
    if (level === 'client-authentication')
      return new NotAuthenticated([this.#sentence, ...(this.#takesKeys ? this.unusable : [])].join('; '), { cause });
    // The host has said so itself, and given a reason.
    if (typeof code !== 'number' || this.#shown.size === 0) return null;
    return new NotAuthenticated(
      `${host} ended the connection after ${this.#shown.size} keys for ${user} (${message}): name the one that it knows, or let no other be tried (IdentitiesOnly)`,
      { cause },
    );
  }

  get #takesKeys(): boolean {
    return this.#accepted === null || this.#accepted.includes('publickey');
  }

  get #sentence(): string {
    const { host, user } = this.destination;
    const wanted = (this.#accepted ?? []).join(' or ');
    if (this.#takesKeys) {
      const count = this.#shown.size;
      return `${host} does not let ${user} in${count === 0 ? '' : ` with ${count === 1 ? 'the key' : `any of the ${count} keys`} that we have: one has to be among its authorized keys`}`;
    }
    return this.#tookKeys
      ? `${host} takes a key of ${user} and wants more (${wanted}), which is not supported`
      : `${host} lets ${user} in with ${wanted || 'nothing'} only, which is not supported: it has to take keys`;
  }

  /** A key that the host has refused is not shown again; one that the agent did not sign with was not refused. */
  #nextProof(): Proof | undefined {
    for (let proof = this.proofs.shift(); proof; proof = this.proofs.shift())
      if (!this.#shown.has(proof.blob.toString('base64')) || this.agent?.hasNotSigned(proof.blob)) return proof;
    return undefined;
  }
}

/** Whoever declines to sign with a key of the agent is not asked for it again; the same key in a file is a proof of its own. */
const onceByAgent = (proofs: readonly Proof[]): Proof[] => {
  const asked = new Set<string>();
  return proofs.filter(({ blob, method }) => {
    const key = blob.toString('base64');
    return method.type !== 'agent' || (!asked.has(key) && asked.add(key));
  });
};

type Identity = {
  readonly file: string;
  readonly key?: ParsedKey;
  readonly publicBlob?: Buffer;
  readonly problem?: string;
};

const readIdentity = async (file: string): Promise<Identity> => {
  let unreadable: string | undefined;
  const content = await readFile(file).catch(({ code }: NodeJS.ErrnoException) => {
    if (code !== 'ENOENT') unreadable = `${file} cannot be read (${code})`;
    return null;
  });
  const beside = await readFile(`${file}.pub`).catch(() => null);
  const publicBlob = (beside && blobOf(beside)) ?? (content && blobInside(content));
  const known = { file, ...(publicBlob ? { publicBlob } : {}) };
  if (content === null) return { ...known, ...(unreadable === undefined ? {} : { problem: unreadable }) };
  const parsed = ssh2.utils.parseKey(content);
  // The library's types know one key; a file may hold several, of which OpenSSH writes one.
  const key = Array.isArray(parsed) ? (parsed[0] as ParsedKey) : parsed;
  if (key instanceof Error) {
    const why = /passphrase/i.test(key.message) ? 'has a passphrase' : `cannot be used here (${key.message})`;
    return { ...known, problem: `${file} ${why}: add it to the ssh-agent (ssh-add)` };
  }
  const whole = { file, publicBlob: key.getPublicSSH() };
  return key.isPrivateKey() ? { ...whole, key } : whole;
};

const blobOf = (publicKey: Buffer): Buffer | null => {
  const parsed = ssh2.utils.parseKey(publicKey);
  return parsed instanceof Error ? null : parsed.getPublicSSH();
};

/** The public half of a key file with a passphrase. OpenSSH's own form has it in front of what is encrypted: PROTOCOL.key of OpenSSH. */
const blobInside = (privateKey: Buffer): Buffer | null => {
  const [, text = ''] = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]+)-----END/.exec(privateKey.toString('latin1')) ?? [];
  const bytes = Buffer.from(text, 'base64');
  const magic = 'openssh-key-v1\0';
  if (bytes.subarray(0, magic.length).toString('latin1') !== magic) return null;
  let at = magic.length;
  const string = (): Buffer => {
    const end = at + 4 + bytes.readUInt32BE(at);
    const value = bytes.subarray(at + 4, end);
    at = end;
    return value;
  };
  try {
    // Cipher, key derivation and its options; then how many keys there are.
    for (let skipped = 0; skipped < 3; skipped += 1) string();
    at += 4;
    return string();
  } catch {
    return null;
  }
};
