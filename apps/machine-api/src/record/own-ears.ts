import type { EventStore } from '@rollcall/event-store';
import type { Clock } from '@rollcall/lifetimes';
import type { Logger } from '@rollcall/nest-platform';
import type { RecordEpoch } from './record-epoch.js';

/**
 * The plane's own ears (B1): where nothing was recorded for a while, an empty batch says that a check could have been. Goes on until
 * the signal; a record that cannot be reached is logged when it goes and when it is back.
 */
export const keepOwnEars = async (
  {
    store,
    epoch,
    clock,
    logger,
    markMs,
  }: { store: EventStore; epoch: RecordEpoch; clock: Clock; logger: Logger; markMs: number },
  signal: AbortSignal,
): Promise<void> => {
  let deaf = false;
  while (!signal.aborted) {
    // Twice as often as needed, so that a mark is at most half its time late.
    await clock.sleep(markMs / 2, signal);
    if (signal.aborted) return;
    try {
      await store.mark(markMs);
      await epoch.refresh();
      if (deaf) logger.info('the record can be reached again');
      deaf = false;
    } catch (error) {
      if (!deaf) logger.warn({ err: error }, 'the record cannot be reached');
      deaf = true;
    }
  }
};
