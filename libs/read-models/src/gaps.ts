import type { Instant } from '@rollcall/decider';
import type { Batch } from '@rollcall/event-store';
import { gapBetween, type Gap as Deafness } from '@rollcall/machine';

/** A time in which the plane was deaf, and the batch that ended it (B1). */
export type Gap = Deafness & { readonly batch: bigint };

/**
 * The gaps that show between neighbouring batches.
 *
 * @param heardUntil the time of the batch before the first; null when there is none
 * @param gapSeconds two batches further apart than this have a gap between them
 */
export const gapsBetween = (
  heardUntil: Instant | null,
  batches: readonly Pick<Batch, 'number' | 'recordedAt'>[],
  gapSeconds: number,
): readonly Gap[] => {
  const gaps: Gap[] = [];
  let before = heardUntil;
  for (const { number: batch, recordedAt } of batches) {
    const gap = before === null ? null : gapBetween(before, recordedAt, gapSeconds);
    if (gap !== null) gaps.push({ batch, ...gap });
    before = recordedAt;
  }
  return gaps;
};
