import { readPrivateFile, removePrivateFile, renamePrivateFile, writePrivateFile } from '@rollcall/secret-file';
import { hashOf } from '@rollcall/wire';
import { Notebook, type KeptAnswer, type Key } from '../check/enrolment.js';
import type { Log } from '../log.js';
import type { Reached } from '../rotation/rotate.js';
import { keepBoot } from './boot-counter.js';
import { readCredential } from './credential-file.js';
import { readHomePlane, writeHomePlane } from './home-plane.js';
import type { StateDirectory } from './state-directory.js';

/**
 * Writes behind the checks, one thing after the other. A failure is told once until something succeeds; the check goes on with what is in
 * memory (O13).
 */
export class FileNotebook extends Notebook {
  readonly #directory: StateDirectory;
  readonly #log: Log;
  readonly #reached: Reached;
  #last: Promise<void> = Promise.resolve();
  #problem: string | null = null;
  #chain: string | null = null;
  #answer = '';

  /** @param reached told when a next credential was used, and when it is in its place (Default: nobody listens) */
  constructor(directory: StateDirectory, log: Log, reached: Reached = () => undefined) {
    super();
    this.#directory = directory;
    this.#log = log;
    this.#reached = reached;
  }

  /** Why something could not be kept, or null. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Resolves when everything that was given so far has been tried. */
  settled(): Promise<void> {
    return this.#last;
  }

  /**
   * The end of the process: leaves the newest chain token for the next start. It is on the disk at no other time, so a disk that was full and a power
   * that was cut leave none, and never an older one: that would look like a copy (B2). None costs a signal at most.
   */
  end(): Promise<void> {
    const chain = this.#chain;
    if (chain !== null) this.#queue(() => writePrivateFile(this.#directory.chain, `${chain}\n`));
    return this.settled();
  }

  override keepChain(chain: string): void {
    this.#chain = chain;
  }

  /** For a loop that begins without one: what it no longer presents must not be what the next start presents. */
  forgetChain(): void {
    this.#chain = null;
  }

  override keepAnswer(answer: KeptAnswer): void {
    const text = JSON.stringify(answer);
    if (text === this.#answer) return;
    this.#queue(async () => {
      const home = await readHomePlane(this.#directory.home);
      const { address, machine, pins, interval } = answer;
      // Enrolled with another plane meanwhile: its pins are not this one's.
      if (home?.address !== address) return;
      const next = { ...home, machine, pins: pins ?? home.pins, interval };
      if (JSON.stringify(next) !== JSON.stringify(home)) await writeHomePlane(this.#directory.home, next);
      this.#answer = text;
    });
  }

  override keepBoot(counter: number): void {
    this.#queue(() => keepBoot(this.#directory.boot, counter));
  }

  override keyConfirmed(key: Key): void {
    this.#queue(async () => {
      const { credential, nextCredential } = this.#directory;
      const next = await readCredential(nextCredential);
      if (next.state !== 'whole' || next.key.secret !== key.secret) return;
      this.#reached('used', key.generation);
      await renamePrivateFile(nextCredential, credential);
      this.#reached('placed', key.generation);
    });
  }

  override keyRevoked(key: Key): void {
    this.#queue(() => writePrivateFile(this.#directory.revoked, `${hashOf(key.secret)}\n`));
  }

  #queue(work: () => Promise<void>): void {
    this.#last = this.#last.then(work).then(
      () => {
        this.#problem = null;
      },
      (error: unknown) => {
        if (this.#problem === null) this.#log.error('The state of this agent cannot be written', error);
        this.#problem = (error as Error).message;
      },
    );
  }
}

/**
 * Takes the chain token that the run before has left, away from the disk, so that no later start presents it again; null where there is none, or
 * where it cannot be taken away.
 */
export const takeChain = async (path: string): Promise<string | null> => {
  try {
    const text = await readPrivateFile(path, 4_096);
    await removePrivateFile(path);
    return text?.toString('utf8').trim() || null;
  } catch {
    return null;
  }
};

/** Whether the plane called this credential revoked. */
export const isKnownRevoked = async (path: string, key: Key): Promise<boolean> => {
  const text = await readPrivateFile(path, 256).catch(() => null);
  return text?.toString('utf8').trim() === hashOf(key.secret);
};
