/** When a watchdog probes, and when it gives up. Whole milliseconds of a monotonic clock. */
export type Timing = {
  /** From a reply, or from the start, to the next probe. */
  readonly interval: number;
  /** The longest silence that is not yet a loss. */
  readonly deadline: number;
};

/**
 * The timing of every session; nobody can set it (T-1.10).
 *
 * 15 s: often enough that a person learns of a dead path within a minute, and a cadence that others ship for long-lived tunnels, so it
 * keeps the tables of middleboxes warm. 45 s: three intervals, so a probe that leaves after one has 30 s to be answered; a link whose
 * answer takes longer has been of no use to anybody for that time.
 */
export const TIMING: Timing = { interval: 15_000, deadline: 45_000 };

/**
 * Whether a watchdog can work with this timing: the interval is above zero, and the deadline longer than two of them. With less, a link
 * would be lost before it could be called unresponsive (T-2.9).
 */
export const makesSense = ({ interval, deadline }: Timing): boolean => interval > 0 && deadline > 2 * interval;
