import { LogTails, type KeptLogTail, type LogTail } from '../log-tails.js';

/** The tails in memory. */
export class InMemoryLogTails extends LogTails {
  readonly #kept = new Map<string, KeptLogTail>();

  /** @param now milliseconds since 1970 */
  constructor(private readonly now: () => number = () => Date.UTC(2026, 0, 1, 12)) {
    super();
  }

  /** The stamps of all that is kept of a machine. */
  stampsOf(machine: string): readonly string[] {
    return [...this.#kept.values()].filter((tail) => tail.machine === machine).map(({ stamp }) => stamp);
  }

  override keep(tail: LogTail): Promise<void> {
    const key = keyOf(tail);
    if (!this.#kept.has(key)) this.#kept.set(key, { ...tail, receivedAt: this.now() });
    return Promise.resolve();
  }

  override read(machine: string, stamp: string): Promise<KeptLogTail | null> {
    return Promise.resolve(this.#kept.get(keyOf({ machine, stamp })) ?? null);
  }

  override discard(machine: string, stamp: string): Promise<void> {
    return this.#remove((tail) => tail.machine === machine && tail.stamp === stamp);
  }

  override discardBefore(machine: string, stamp: string): Promise<void> {
    return this.#remove((tail) => tail.machine === machine && tail.stamp < stamp);
  }

  override forget(machine: string): Promise<void> {
    return this.#remove((tail) => tail.machine === machine);
  }

  #remove(which: (tail: LogTail) => boolean): Promise<void> {
    for (const [key, tail] of this.#kept) if (which(tail)) this.#kept.delete(key);
    return Promise.resolve();
  }
}

const keyOf = ({ machine, stamp }: Pick<LogTail, 'machine' | 'stamp'>): string => `${machine} ${stamp}`;
