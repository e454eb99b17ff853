import type { Key } from '../check/enrolment.js';
import { readCredential, type CredentialReading } from '../installation/credential-file.js';
import type { StateDirectory } from '../installation/state-directory.js';
import { Probe } from './probe.js';

/** A start from these files would find the key again that is in use, in one of the two places where it may be. */
export const isKept = (key: Key, ...readings: readonly CredentialReading[]): boolean =>
  readings.some((reading) => reading.state === 'whole' && reading.key.secret === key.secret);

/** Looks whether the key that this agent has in memory is still there for its next start. */
export class CredentialProbe extends Probe {
  override readonly codes = ['credential-unreadable'];
  readonly #directory: Pick<StateDirectory, 'credential' | 'nextCredential'>;
  readonly #keyInUse: () => Key | null;

  readonly #cannotKeepNext: () => boolean;

  /**
   * @param keyInUse null: nothing is in use, so nothing can be lost
   * @param cannotKeepNext whether a rotation failed to write the next credential: the place that holds this one is broken
   */
  constructor(
    directory: Pick<StateDirectory, 'credential' | 'nextCredential'>,
    keyInUse: () => Key | null,
    cannotKeepNext: () => boolean,
  ) {
    super();
    this.#cannotKeepNext = cannotKeepNext;
    this.#directory = directory;
    this.#keyInUse = keyInUse;
  }

  override async probe(): Promise<readonly string[]> {
    // The pending one first: it is renamed over the other, so in this order a key on its way is seen in one of the two places.
    const next = await readCredential(this.#directory.nextCredential);
    const live = await readCredential(this.#directory.credential);
    const key = this.#keyInUse();
    if (this.#cannotKeepNext()) return this.codes;
    return key === null || isKept(key, live, next) ? [] : this.codes;
  }
}
