import type { Instant } from './decider.js';

/** Writes an instant as events carry it: UTC, RFC 3339, milliseconds. */
export const timestampOf = (instant: Instant): string => new Date(instant).toISOString();

/** Reads a timestamp that `timestampOf` wrote. NaN, which is before and after nothing, for any other text. */
export const instantOf = (timestamp: string): Instant => Date.parse(timestamp);
