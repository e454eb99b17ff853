import { Readiness, type Findings } from '../check/readiness.js';

/** A readiness that a test sets. */
export class SettableReadiness extends Readiness {
  #findings: Findings | null = null;
  readonly #listeners = new Set<() => void>();

  override current(): Findings | null {
    return this.#findings;
  }

  override onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  set(blockers: readonly string[], ...notProbed: readonly string[]): void {
    this.#findings = { blockers, notProbed: notProbed.map((code) => ({ code, why: 'a test says so' })) };
    for (const listener of this.#listeners) listener();
  }
}
