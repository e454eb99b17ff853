import type { Instant } from '@rollcall/decider';

/** Whether a machine is heard from. */
export type Presence = 'not-yet-arrived' | 'present' | 'absent';

/** What presence is computed from: the record's times only, never a machine's. */
export type Heard = {
  /** When the newest check was recorded; null before the first. */
  readonly lastCheckAt: Instant | null;
  /** Seconds, as the newest check-in carries it; null before the first. */
  readonly window: number | null;
  /** When the plane began to hear again after its newest gap; null without one. */
  readonly gapEnd: Instant | null;
  /** Since when an absence is recorded that no check has ended; null without one. */
  readonly absentSince: Instant | null;
};

/**
 * Whether a machine is heard from, as of the newest ear that the reader has applied (`heardUntil`). Exactly at the window it is still
 * present, and an absence that is recorded lasts until a check ends it: a deaf plane makes nobody absent, and nobody present. A pure function of the record: a rebuild and a question about the past get the same answer (O22, B1).
 */
export const presence = (heardUntil: Instant, heard: Heard): Presence => {
  const silent = silence(heardUntil, heard);
  if (silent === null) return 'not-yet-arrived';
  if (heard.absentSince !== null) return 'absent';
  return silent > (heard.window ?? 0) * 1000 ? 'absent' : 'present';
};

/** Milliseconds that the plane listened without hearing the machine; null before its first check. */
export const silence = (
  heardUntil: Instant,
  { lastCheckAt, gapEnd }: Pick<Heard, 'lastCheckAt' | 'gapEnd'>,
): number | null => (lastCheckAt === null ? null : Math.max(0, heardUntil - silenceBegan(lastCheckAt, gapEnd)));

/** From when on silence counts: from the last check, or from when the plane listened again after a later gap (B1). */
export const silenceBegan = (lastCheckAt: Instant, gapEnd: Instant | null): Instant =>
  Math.max(lastCheckAt, gapEnd ?? lastCheckAt);

/** A time in which the plane could not have recorded anything: nobody's silence in it counts (B1). */
export type Gap = { readonly from: Instant; readonly until: Instant };

/** The gap between two neighbouring ears, if they are more than `threshold` seconds apart. (Default: 15; a mark comes after 5.) */
export const gapBetween = (earlier: Instant, later: Instant, threshold = 15): Gap | null =>
  later - earlier > threshold * 1000 ? { from: earlier, until: later } : null;
