import { addAbortSignal, type Duplex } from 'node:stream';
import ssh2, { type GetStreamCallback, type ParsedKey, type SignCallback, type SigningRequestOptions } from 'ssh2';
import type { DialLimit } from './dial-limit.js';

/** How long an ssh-agent may take to say which keys it holds, in milliseconds. It asks nobody for that. */
const LISTING_LIMIT_MS = 10_000;

/**
 * The person's ssh-agent in one dial. ssh2 waits for an agent without end, on connections that nobody else knows of: here they end with the
 * dial, and the person whom an agent asks before it signs has time of their own.
 */
export class SshAgent extends ssh2.OpenSSHAgent {
  readonly #unsigned = new Set<string>();
  #newest: Duplex | undefined;
  /** How many times it has signed. */
  signatures = 0;

  /** @param over aborted when the dial has ended, in whatever way */
  constructor(
    readonly path: string,
    private readonly limit: DialLimit,
    private readonly over: AbortSignal,
  ) {
    super(path);
  }

  /** The keys that it holds, or in one sentence why there are none to be had. */
  async keys(): Promise<readonly ParsedKey[] | string> {
    let isLate = false;
    const cancel = this.limit.clock.after(LISTING_LIMIT_MS, () => {
      isLate = true;
      this.#newest?.destroy();
    });
    const keys = await new Promise<readonly ParsedKey[] | null>((resolve) =>
      this.getIdentities((error, held) => resolve(error ? null : ((held ?? []) as ParsedKey[]))),
    );
    cancel();
    if (isLate) return `the ssh-agent at ${this.path} did not answer within ${LISTING_LIMIT_MS / 1_000} s`;
    if (keys === null) return `no ssh-agent answers at ${this.path} (SSH_AUTH_SOCK or IdentityAgent)`;
    return keys.length > 0 ? keys : 'the ssh-agent holds no key (ssh-add adds one)';
  }

  /** Whether it was asked to sign with a key and did not. */
  hasNotSigned(blob: Buffer): boolean {
    return this.#unsigned.has(blob.toString('base64'));
  }

  /** One of its keys, as ssh2 takes keys of an agent. */
  only(key: ParsedKey): ssh2.BaseAgent<ParsedKey> {
    return new OneKey(this, key);
  }

  override getStream(done: GetStreamCallback): void {
    super.getStream((error, stream) => {
      this.#newest = stream;
      if (stream) addAbortSignal(this.over, stream);
      done(error, stream);
    });
  }

  signWith(key: ParsedKey, data: Buffer, options: SigningRequestOptions, done: SignCallback): void {
    const goOn = this.limit.askPerson();
    this.sign(key, data, options, (error, signature) => {
      goOn();
      if (error) this.#unsigned.add(key.getPublicSSH().toString('base64'));
      else this.signatures += 1;
      done(error, signature);
    });
  }
}

class OneKey extends ssh2.BaseAgent<ParsedKey> {
  constructor(
    private readonly agent: SshAgent,
    private readonly key: ParsedKey,
  ) {
    super();
  }

  override getIdentities(done: ssh2.IdentityCallback<ParsedKey>): void {
    done(undefined, [this.key]);
  }

  // ssh2 has two forms and uses the first.
  override sign(key: ParsedKey, data: Buffer, options: SigningRequestOptions, done?: SignCallback): void;
  override sign(key: ParsedKey, data: Buffer, done: SignCallback): void;
  override sign(
    key: ParsedKey,
    data: Buffer,
    options: SigningRequestOptions | SignCallback,
    done?: SignCallback,
  ): void {
    if (typeof options === 'function') this.agent.signWith(key, data, {}, options);
    else this.agent.signWith(key, data, options, done ?? (() => undefined));
  }
}
