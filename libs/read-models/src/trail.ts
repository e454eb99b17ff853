import { createHash } from 'node:crypto';
import type { Batch } from '@rollcall/event-store';

/** The trail of a read model that has applied nothing. */
export const NO_TRAIL = '';

/**
 * The digest of everything that a read model has applied, in the order in which it did: each batch with its number, time and facts. Two
 * are equal exactly when the same batches were applied in the same order, each once (I6).
 *
 * @param trail what was applied before
 */
export const trailAfter = (trail: string, batches: readonly Batch[]): string =>
  batches.reduce((before, { number, recordedAt, facts }) => {
    const digest = createHash('sha256').update(`${before}\n${number} ${recordedAt} ${facts.length}`);
    for (const { stream, revision } of facts) digest.update(`\n${revision} ${stream}`);
    return digest.digest('hex');
  }, trail);
