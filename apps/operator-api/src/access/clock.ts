import type { Instant } from '@rollcall/decider';

/**
 * This instance's clock. Only the end of a session is compared with it: that must come also while nothing is recorded, when the
 * record's own time stands still.
 */
export abstract class Clock {
  abstract now(): Instant;
}
