import { setTimeout as delay } from 'node:timers/promises';

/** The two clocks of a machine and its timers, as one port, so that a test can own time. */
export abstract class Clock {
  /** What the machine believes the time to be, in milliseconds since 1970. It can step, forwards and backwards. */
  abstract wall(): number;
  /** Milliseconds since some moment; never steps back, and stands still while the machine sleeps. */
  abstract monotonic(): number;
  /**
   * Resolves after that many milliseconds of the monotonic clock, or at once when the signal is aborted; it never rejects. At most
   * 2^31 - 1 ms.
   */
  abstract sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The real clocks. */
export class SystemClock extends Clock {
  override wall(): number {
    return Date.now();
  }

  override monotonic(): number {
    return performance.now();
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }
}
