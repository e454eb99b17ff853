import { Clock } from '../clock.js';

type Sleeper = { readonly due: number; readonly wake: () => void };

/**
 * A clock that moves only when a test moves it.
 *
 * `advance` goes from timer to timer and lets everything that a timer woke come to rest before it goes on, so a loop that asks for
 * its next timer while time is moving gets it in the right place.
 */
export class ManualClock extends Clock {
  #monotonic = 0;
  #wall: number;
  readonly #sleepers = new Set<Sleeper>();
  readonly #watchers = new Set<() => void>();

  constructor(start: number = Date.UTC(2026, 0, 1)) {
    super();
    this.#wall = start;
  }

  override wall(): number {
    return this.#wall;
  }

  override monotonic(): number {
    return this.#monotonic;
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper: Sleeper = { due: this.#monotonic + Math.max(0, ms), wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
      for (const watcher of this.#watchers) watcher();
    });
  }

  /** How many timers are waiting: a loop that ended has left none. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Resolves as soon as that many timers have been asked for and not yet fired. */
  async whenAsleep(timers = 1): Promise<void> {
    while (this.#sleepers.size < timers) {
      await new Promise<void>((resolve) => {
        const watcher = () => {
          this.#watchers.delete(watcher);
          resolve();
        };
        this.#watchers.add(watcher);
      });
    }
  }

  /** Both clocks go on by that many milliseconds, timer by timer. */
  async advance(ms: number): Promise<void> {
    const target = this.#monotonic + ms;
    await atRest();
    for (;;) {
      const next = this.#next(target);
      if (!next) break;
      this.#moveTo(next.due);
      next.wake();
      await atRest();
    }
    this.#moveTo(target);
    await atRest();
  }

  /** The machine sleeps: the wall clock goes on, the monotonic one and all timers stand still. Also a step of the wall clock. */
  suspend(ms: number): void {
    this.#wall += ms;
  }

  #next(target: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers)
      if (sleeper.due <= target && (!first || sleeper.due < first.due)) first = sleeper;
    return first;
  }

  #moveTo(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
  }
}

/** Every promise that can settle without time or IO has settled: micro tasks are drained before the next turn of the event loop. */
const atRest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
