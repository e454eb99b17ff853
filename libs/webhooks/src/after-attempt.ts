import type { Attempt } from './outcome.js';
import { nextAttemptIn, nextProbeIn } from './schedule.js';
import type { DeliveryState, PauseReason } from './tables.js';

/** How things stood at an attempt. */
export type BeforeAttempt = {
  /** At this delivery, without this one. */
  readonly attempts: number;
  /** A look whether an endpoint that failed is back: it takes none of the attempts that a delivery has. */
  readonly isProbe: boolean;
  readonly endpoint: {
    /** In a row, without this one. */
    readonly failures: number;
    readonly pauseReason: PauseReason | null;
    readonly pausedForSeconds: number;
  };
};

/** What follows from an attempt. */
export type AfterAttempt = {
  readonly delivery: {
    readonly state: DeliveryState;
    readonly attempts: number;
    /** Seconds until it is tried again; null: it is not. */
    readonly retryIn: number | null;
  };
  readonly endpoint: {
    readonly failures: number;
    /** The reason for which it is paused now; null: it goes on as it was. */
    readonly pause: 'failing' | 'gone' | null;
    readonly resume: boolean;
    /** Seconds until the next look; null: none follows from this. */
    readonly probeIn: number | null;
  };
};

/** So many attempts in a row without success, and nothing but probes goes to an endpoint. */
export const FAILURES_UNTIL_PAUSE = 5;

/**
 * What follows from an attempt, for the delivery and for its endpoint. A success resumes what failures have paused; it does not overrule a
 * person, nor an answer of 410.
 *
 * @param chance from 0 to below 1
 */
export const afterAttempt = (
  { outcome, retryAfter }: Attempt,
  { attempts, isProbe, endpoint }: BeforeAttempt,
  chance: number,
): AfterAttempt => {
  if (outcome === 'delivered')
    return {
      delivery: { state: 'delivered', attempts: attempts + 1, retryIn: null },
      endpoint: { failures: 0, pause: null, resume: endpoint.pauseReason === 'failing', probeIn: null },
    };
  const failures = endpoint.failures + 1;
  const isWell = endpoint.pauseReason === null;
  const pause = pauseFor(outcome === 'gone', isWell, failures, endpoint.pauseReason);
  const pausedForSeconds = isWell ? 0 : endpoint.pausedForSeconds;
  const isProbed = pause === 'failing' || (isProbe && pause === null);
  return {
    delivery: isProbe ? { state: 'waiting', attempts, retryIn: null } : failed(attempts + 1, retryAfter, chance),
    endpoint: { failures, pause, resume: false, probeIn: isProbed ? nextProbeIn(pausedForSeconds) : null },
  };
};

const pauseFor = (
  isGone: boolean,
  isWell: boolean,
  failures: number,
  reason: PauseReason | null,
): 'failing' | 'gone' | null => {
  if (isGone) return reason === 'person' ? null : 'gone';
  return isWell && failures >= FAILURES_UNTIL_PAUSE ? 'failing' : null;
};

const failed = (attempts: number, retryAfter: number | null, chance: number): AfterAttempt['delivery'] => {
  const scheduled = nextAttemptIn(attempts, chance);
  return scheduled === null
    ? { state: 'failed', attempts, retryIn: null }
    : { state: 'waiting', attempts, retryIn: Math.max(scheduled, retryAfter ?? 0) };
};
