/** Takes back a call that has not been made yet; without effect afterwards. */
export type Cancel = () => void;

/**
 * The time of sessions and the turns of the event loop, as one port: both are activities that a stop has to end, and that a test has to hold.
 */
export abstract class SessionClock {
  /** Whole milliseconds of a monotonic clock. */
  abstract now(): number;

  /** Calls once, about `ms` milliseconds from now; it may be a little early, so the caller looks at the time again. */
  abstract after(ms: number, call: () => void): Cancel;

  /** Calls once, after this turn of the event loop has taken in what has arrived. */
  abstract afterIo(call: () => void): Cancel;
}

/** The clock and the event loop of this process. */
export class SystemSessionClock extends SessionClock {
  override now(): number {
    return Math.floor(performance.now());
  }

  override after(ms: number, call: () => void): Cancel {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  }

  override afterIo(call: () => void): Cancel {
    const immediate = setImmediate(call);
    return () => clearImmediate(immediate);
  }
}
