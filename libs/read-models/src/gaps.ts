import type { Instant } from '@rollcall/decider';
import { isEar, type Batch, type RecordedGap } from '@rollcall/event-store';
import { gapBetween } from '@rollcall/machine';

/** A time in which the plane was deaf, as a follower of the record finds it. */
export type Gap = RecordedGap;

/** How far the plane could hear, and when it could not. */
export type Hearing = {
  /** The time of the newest ear; null before the first. */
  readonly heardUntil: Instant | null;
  readonly gaps: readonly Gap[];
};

/**
 * What batches add to what was heard. Only ears carry it on, and a gap lies between two neighbouring ears: whatever else is recorded meanwhile,
 * nobody's check could have been (B1).
 *
 * @param heardUntil the time of the newest ear before the first of them; null when there is none
 * @param gapSeconds two ears further apart than this have a gap between them
 */
export const hearOn = (
  heardUntil: Instant | null,
  batches: readonly Pick<Batch, 'number' | 'recordedAt' | 'facts'>[],
  gapSeconds: number,
): Hearing => {
  const gaps: Gap[] = [];
  let before = heardUntil;
  for (const { number: batch, recordedAt } of batches.filter(isEar)) {
    const gap = before === null ? null : gapBetween(before, recordedAt, gapSeconds);
    if (gap !== null) gaps.push({ batch, ...gap });
    before = recordedAt;
  }
  return { heardUntil: before, gaps };
};
