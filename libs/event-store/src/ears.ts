import type { Batch } from './event-store.js';

/**
 * Whether the plane could be heard by at the time of a batch: an *ear* holds a check-in, or is a mark, which is made where a check could have
 * been recorded. What people or projectors have recorded proves nothing of the kind (B1).
 */
export const isEar = ({ facts }: Pick<Batch, 'facts'>): boolean =>
  facts.length === 0 || facts.some(({ kind }) => kind === 'check-in');
