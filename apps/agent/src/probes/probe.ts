/** Looks after one thing that may keep this machine from taking work. */
export abstract class Probe {
  readonly #listeners = new Set<() => void>();

  /** All codes that it can find. While it does not answer, they are what is not probed. */
  abstract readonly codes: readonly string[];

  /**
   * Looks now.
   *
   * @param signal aborted when nobody waits for the answer any more
   * @returns those of its codes that stand
   * @throws when that cannot be known; the message says why, for a person
   */
  abstract probe(signal: AbortSignal): Promise<readonly string[]>;

  /** Says that the answer may be another one by now, so that nobody has to wait for the next turn. Not to be called while looking. */
  lookAgain(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Calls back at `lookAgain`; returns how to stop that. */
  onLookAgain(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
