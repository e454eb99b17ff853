import type { FeedPlace } from '@rollcall/feed';

/** What is known when a relay begins, in the order in which it has to be found out: each can only have grown until the next. */
export type Findings = {
  /** The record's epoch. */
  readonly epoch: string;
  /** Where the relay stands; null before the first time. */
  readonly cursor: FeedPlace | null;
  /** The newest batch that the feed holds. */
  readonly published: FeedPlace | null;
  /** The batch of the first ledger event after the newest that the feed holds of this epoch; null where there is none. */
  readonly lacking: bigint | null;
  /** The feed holds a ledger event of this epoch that the record does not have. */
  readonly unrecorded: boolean;
  /** The newest batch of the record. */
  readonly head: bigint;
};

/** Where the relay goes on: after this batch. */
export type Beginning = {
  readonly after: bigint;
  /** The record has lost what was once published or counted as published, so it needs another epoch. */
  readonly recordLostItsTail: boolean;
  /** The feed has lost what it had acknowledged. */
  readonly feedLostItsTail: boolean;
};

/**
 * Where to go on, so that every batch of the record is published at least once.
 *
 * The feed or the cursor is ahead of the record: the record was put back to an earlier state, and the numbers between will be given
 * again, to other batches. The cursor was put back with the record, so what was recorded since then is after it. But a cursor that is
 * ahead itself is not of this record: nobody knows which of its batches were published, and all of them are.
 *
 * The feed is behind the cursor: it was put back, for a server acknowledges before it has synced. It syncs batches and ledger events at
 * different times, so either may have lost more than the other. Its newest batch is repeated too, because nobody knows whether the
 * events of that batch were kept where it holds none. A feed that holds nothing may as well have been emptied by its own retention; that
 * is not the relay's to tell apart.
 */
export const whereToBegin = ({ epoch, cursor, published, lacking, unrecorded, head }: Findings): Beginning => {
  const number = cursor?.number ?? 0n;
  const newest = published?.epoch === epoch ? published.number : null;
  const isCursorAhead = number > head;
  if (isCursorAhead || unrecorded || (newest !== null && newest > head))
    return { after: isCursorAhead ? 0n : number, recordLostItsTail: true, feedLostItsTail: false };
  const lost = [
    ...(newest !== null && newest < number ? [newest] : []),
    ...(lacking !== null && lacking <= number ? [lacking] : []),
  ];
  const after = lost.reduce((first, batch) => (batch - 1n < first ? batch - 1n : first), number);
  return { after, recordLostItsTail: false, feedLostItsTail: lost.length > 0 };
};
