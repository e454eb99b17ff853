import type { Instant } from '@rollcall/decider';

/** Seconds between two questions about a code (RFC 8628): at first, added for good by each that comes too soon, and at most. */
export const POLL = { interval: 5, step: 5, most: 60 } as const;
/** Somebody's clock runs a little fast, and answers travel for different times. */
const LENIENCE_MS = 500;

/** When the last question about a code came, and the seconds that the next one has to wait. */
export type Pace = { readonly asked: Instant; readonly interval: number };

/** The pace after one more question, and whether it came too soon; then the interval grows. `pace`: null before the first. */
export const afterQuestion = (
  pace: Pace | null,
  now: Instant,
): { readonly pace: Pace; readonly isTooFast: boolean } => {
  const { asked, interval } = pace ?? { asked: -Infinity, interval: POLL.interval };
  const isTooFast = now - asked < interval * 1_000 - LENIENCE_MS;
  return {
    pace: { asked: now, interval: isTooFast ? Math.min(POLL.most, interval + POLL.step) : interval },
    isTooFast,
  };
};
