import { decodeBatch, NotABatch, type Batch } from '@rollcall/event-store';
import type { Delivery } from '@rollcall/feed';

/** What deliveries come to for a reader that stands at a batch. */
export type Arrivals = {
  /** What follows, whole and in order; may be applied as it is. */
  readonly next: readonly Batch[];
  /** Up to here something is missing, or did not arrive whole: to be read from the record. null: nothing is. */
  readonly missingUpTo: bigint | null;
};

/**
 * Sorts what a feed has delivered. It may be late, double, out of order, damaged or of another record: only what follows the checkpoint
 * without a hole is taken from it (C25).
 */
export const sortArrivals = (
  { epoch, checkpoint }: { readonly epoch: string; readonly checkpoint: bigint },
  deliveries: readonly Pick<Delivery, 'epoch' | 'number' | 'body'>[],
): Arrivals => {
  const news = new Map(
    deliveries
      .filter((delivery) => delivery.epoch === epoch && delivery.number > checkpoint)
      .map((delivery) => [delivery.number, delivery.body]),
  );
  const next: Batch[] = [];
  for (let number = checkpoint + 1n; news.has(number); number += 1n) {
    const batch = wholeBatch(news.get(number)!, number);
    if (batch === null) break;
    next.push(batch);
    news.delete(number);
  }
  const missingUpTo = [...news.keys()].reduce<bigint | null>(
    (up, number) => (up === null || number > up ? number : up),
    null,
  );
  return { next, missingUpTo };
};

/** null where the facts did not travel with it, or it is not the batch that it says it is. */
const wholeBatch = (body: string, number: bigint): Batch | null => {
  try {
    const batch = decodeBatch(body);
    return batch?.number === number ? batch : null;
  } catch (error) {
    if (error instanceof NotABatch) return null;
    throw error;
  }
};
