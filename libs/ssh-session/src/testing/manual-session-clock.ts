import { SessionClock, type Cancel } from '../session-clock.js';

type Timer = { readonly due: number; readonly call: () => void };

/**
 * A clock that moves only when a test moves it, with turns of the event loop that a test can hold back. Between two calls everything that can
 * settle without time has settled.
 */
export class ManualSessionClock extends SessionClock {
  #now = 0;
  readonly #timers = new Set<Timer>();
  readonly #turns = new Set<() => void>();
  /** While true, what was asked for with `afterIo` waits for `turn`. */
  holdsTurns = false;

  override now(): number {
    return this.#now;
  }

  override after(ms: number, call: () => void): Cancel {
    const timer = { due: this.#now + Math.max(0, ms), call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  override afterIo(call: () => void): Cancel {
    const turn = () => call();
    this.#turns.add(turn);
    return () => this.#turns.delete(turn);
  }

  /** How many calls are waited for: whoever has stopped has left none. */
  get pending(): number {
    return this.#timers.size + this.#turns.size;
  }

  /** How long until the next timer, of however many; null when there is none. */
  get untilNextTimer(): number | null {
    return this.#timers.size === 0 ? null : Math.min(...[...this.#timers].map(({ due }) => due)) - this.#now;
  }

  /** Goes on by that many milliseconds, timer by timer. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await this.rest();
    for (let timer = this.#next(target); timer; timer = this.#next(target)) {
      this.#now = Math.max(this.#now, timer.due);
      await this.#fire(timer);
    }
    this.#now = target;
  }

  /** The process stands still for that long: then the overdue timers are called, in their order and before anything else. */
  async standStill(ms: number): Promise<void> {
    this.#now += ms;
    for (let timer = this.#next(this.#now); timer; timer = this.#next(this.#now)) await this.#fire(timer);
  }

  /** Lets one turn of the event loop pass that `holdsTurns` held back. */
  async turn(): Promise<void> {
    const turns = [...this.#turns];
    for (const turn of turns) if (this.#turns.delete(turn)) turn();
    await microtasksDone();
  }

  /** Until everything has settled that can without time. */
  async rest(): Promise<void> {
    await microtasksDone();
    while (!this.holdsTurns && this.#turns.size > 0) await this.turn();
  }

  async #fire(timer: Timer): Promise<void> {
    this.#timers.delete(timer);
    timer.call();
    await this.rest();
  }

  #next(target: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) if (timer.due <= target && (!first || timer.due < first.due)) first = timer;
    return first;
  }
}

const microtasksDone = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** That many steps of promises further, so that a test can come between any two of them. */
export const afterMicrotasks = async (count: number): Promise<void> => {
  for (let step = 0; step < count; step += 1) await Promise.resolve();
};
