import type { Clock } from '@rollcall/lifetimes';

const ASK_EVERY_MS = 50;

/** Asks again and again until it is so or the time is over. */
export const until = async (clock: Clock, patienceMs: number, isSo: () => Promise<boolean>): Promise<boolean> => {
  const end = clock.monotonic() + patienceMs;
  while (clock.monotonic() < end) {
    if (await isSo()) return true;
    await clock.sleep(ASK_EVERY_MS);
  }
  return isSo();
};
