import type { TargetProblem } from './target.js';

/** What came of an attempt; a closed list, and all that is kept or shown of what a receiver did. */
export type Outcome =
  | 'delivered'
  /** 3xx: nobody follows, and it may lead anywhere. */
  | 'redirected'
  /** 410: it wants no more. */
  | 'gone'
  /** 429 or 503 */
  | 'throttled'
  /** Any other answer. */
  | 'refused'
  | 'timed-out'
  | 'not-connected'
  | 'tls-failed'
  /** The connection ended before there was an answer. */
  | 'broken-off'
  /** Its address and secrets do not open with the key that is there. */
  | 'not-unsealed'
  | TargetProblem;

/** Why something was given up without another attempt; a closed list. */
export type GivenUp = 'endpoint-removed' | 'too-old';

/** What came of an attempt, and what is told of it. */
export type Attempt = {
  readonly outcome: Outcome;
  /** The HTTP status; null where there was no answer. */
  readonly status: number | null;
  /** Seconds that the receiver asks us to wait; null where it does not. */
  readonly retryAfter: number | null;
};

/** What an answer says. Only 2xx is a delivery. */
export const outcomeOf = (status: number): Outcome => {
  if (status >= 200 && status < 300) return 'delivered';
  if (status >= 300 && status < 400) return 'redirected';
  if (status === 410) return 'gone';
  return status === 429 || status === 503 ? 'throttled' : 'refused';
};

const LONGEST_WAIT_S = 3_600;

/**
 * How long a receiver asks us to wait, as seconds or as a date; at most an hour, because the schedule is not its to stretch (RFC 9110,
 * 10.2.3). null where it says nothing that can be read.
 */
export const retryAfterSeconds = (header: string | undefined, now: number): number | null => {
  if (header === undefined) return null;
  const isDate = header.endsWith(' GMT');
  const seconds = isDate ? (Date.parse(header) - now) / 1_000 : Number(/^\d{1,9}$/.exec(header)?.[0]);
  return Number.isFinite(seconds) ? Math.min(LONGEST_WAIT_S, Math.max(0, seconds)) : null;
};
