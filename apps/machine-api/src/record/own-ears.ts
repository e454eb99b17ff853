import type { EventStore } from '@rollcall/event-store';
import type { Clock } from '@rollcall/lifetimes';
import type { Logger } from '@rollcall/nest-platform';
import type { RecordEpoch } from './record-epoch.js';

/** Tells whether a silence may become an absence now, if the record's time only goes on. */
export type Silences = { isDue(): Promise<boolean> };

/** Between two looks at the silences, and the age of the newest ear from which on one that is due is worth a mark. */
const LOOK_MS = 500;

/**
 * The plane's own ears (B1): where no check was recorded for a while, an empty batch says that one could have been; and where a silence
 * becomes due it says so at once, because an absence counts from what was heard. Goes on until the signal; a record that cannot be reached is
 * logged when it goes and when it is back.
 */
export const keepOwnEars = async (
  {
    store,
    silences,
    epoch,
    clock,
    logger,
    markMs,
  }: { store: EventStore; silences: Silences; epoch: RecordEpoch; clock: Clock; logger: Logger; markMs: number },
  signal: AbortSignal,
): Promise<void> => {
  // Twice as often as needed, so that a mark is at most half its time late.
  const lookMs = Math.min(LOOK_MS, markMs / 2);
  let markedAt = clock.monotonic();
  let deaf = false;
  while (!signal.aborted) {
    await clock.sleep(lookMs, signal);
    if (signal.aborted) return;
    try {
      if (clock.monotonic() - markedAt >= markMs / 2) {
        markedAt = clock.monotonic();
        await store.mark(markMs);
        await epoch.refresh();
      } else if (!deaf && (await isAnyDue(silences))) await store.mark(lookMs);
      else continue;
      if (deaf) logger.info('the record can be reached again');
      deaf = false;
    } catch (error) {
      if (!deaf) logger.warn({ err: error }, 'the record cannot be reached');
      deaf = true;
    }
  }
};

/** Not to know it makes an absence some seconds late, and says nothing about the record. */
const isAnyDue = (silences: Silences): Promise<boolean> => silences.isDue().catch(() => false);
