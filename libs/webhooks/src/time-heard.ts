import type { Instant } from '@rollcall/decider';

/** A time in which the plane recorded nothing. */
export type Deaf = { readonly from: Instant; readonly until: Instant };

/**
 * Since when the plane has listened for so long. Time in which it was deaf is not counted: what waits cannot have been sent in it, and a clock
 * that is put forward leaves such a time in the record, however far that was (U5, B1).
 *
 * @param seconds that it has listened for
 * @param heardUntil the end of them
 * @param deaf the newest first
 */
export const heardSince = (seconds: number, heardUntil: Instant, deaf: readonly Deaf[]): Instant => {
  let left = seconds * 1_000;
  let end = heardUntil;
  for (const { from, until } of deaf) {
    if (end - until >= left) break;
    left -= end - until;
    end = from;
  }
  return end - left;
};
