import type { Clock } from './clock.js';

/** Lets one waiter sleep until somebody rings, a time is over, or it is told to stop. A ring while nobody waits is not lost. */
export class Bell {
  #rung = false;
  #wake: (() => void) | null = null;

  constructor(private readonly clock: Clock) {}

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** @param milliseconds the longest wait */
  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      const awake = new AbortController();
      const wake = (): void => awake.abort();
      signal.addEventListener('abort', wake);
      this.#wake = wake;
      await this.clock.sleep(milliseconds, awake.signal);
      this.#wake = null;
      signal.removeEventListener('abort', wake);
    }
    this.#rung = false;
  }
}
