const MINUTE = 60;
const HOUR = 3_600;

/** Seconds after the first, the second, … attempt that failed: ten attempts within three days and a few hours. */
const DELAYS = [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR] as const;
const JITTER = 0.2;

/**
 * When the next attempt is due, in seconds; null once there were ten. A fifth more or less, so that what failed together does not come
 * back together.
 *
 * @param attempts that failed, this one included
 * @param chance from 0 to below 1
 */
export const nextAttemptIn = (attempts: number, chance: number): number | null => {
  const delay = DELAYS[attempts - 1];
  return delay === undefined ? null : delay * (1 - JITTER + 2 * JITTER * chance);
};

const FIRST_PROBE = MINUTE;
const SLOWEST_PROBE = 15 * MINUTE;

/** When to look again whether an endpoint is back: after a minute, then after as long as it has been away, at least every 15 minutes. */
export const nextProbeIn = (pausedForSeconds: number): number =>
  Math.min(SLOWEST_PROBE, Math.max(FIRST_PROBE, pausedForSeconds));
