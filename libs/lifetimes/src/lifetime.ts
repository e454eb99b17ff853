/**
 * The owner of loops and tasks: each gets a signal, and the owner can wait for the end of all of them. A task that outlives its owner
 * is a leak.
 */
export class Lifetime {
  readonly #over = new AbortController();
  readonly #tasks = new Set<Promise<void>>();
  readonly #failures: unknown[] = [];

  /** Aborted when this lifetime ends. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Starts a task. One that fails ends the whole lifetime, because its promises are no longer kept; `end` then throws its error. */
  run(task: (signal: AbortSignal) => Promise<void>): void {
    const running = task(this.signal)
      .catch((error: unknown) => {
        this.#failures.push(error);
        this.#over.abort(error);
      })
      .finally(() => this.#tasks.delete(running));
    this.#tasks.add(running);
  }

  /**
   * Aborts the signal and waits until every task has returned. Idempotent.
   *
   * @throws the error of the task that failed, or an AggregateError of several
   */
  async end(reason?: unknown): Promise<void> {
    this.#over.abort(reason);
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
    const failures = this.#failures.splice(0);
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, 'Several tasks failed');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}
