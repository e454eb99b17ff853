import { Readiness } from '../check/readiness.js';

/** A readiness that a test sets. */
export class SettableReadiness extends Readiness {
  #blockers: readonly string[] | null = null;
  readonly #listeners = new Set<() => void>();

  override current(): readonly string[] | null {
    return this.#blockers;
  }

  override onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  set(blockers: readonly string[]): void {
    this.#blockers = blockers;
    for (const listener of this.#listeners) listener();
  }
}
