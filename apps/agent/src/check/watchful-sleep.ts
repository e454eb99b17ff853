import type { Clock } from '@rollcall/lifetimes';

/** One moment by both clocks. */
export type Moment = { readonly wall: number; readonly monotonic: number };

/** Now. */
export const momentOf = (clock: Clock): Moment => ({ wall: clock.wall(), monotonic: clock.monotonic() });

/** Time since then, also time that the machine slept through: the clock that moved further is right. */
export const elapsedSince = (then: Moment, clock: Clock): number =>
  Math.max(clock.monotonic() - then.monotonic, clock.wall() - then.wall);

/** Longest time between two looks at the clocks, so a sleep is noticed within it after the machine woke up. */
const LOOK_EVERY = 2_000;
/** The wall clock is ahead of the monotonic one by this much more than before: the machine slept. Less is a correction of the clock. */
const SLEPT = 3_000;

/**
 * Sleeps, and notices when the machine does: timers stand still in a suspended machine, so a plain one would wait out the rest of its time
 * after hours (C14).
 *
 * @returns `elapsed`, `resumed` (within two seconds of the machine's waking up), or `aborted`
 */
export const watchfulSleep = async (
  clock: Clock,
  ms: number,
  signal: AbortSignal,
): Promise<'elapsed' | 'resumed' | 'aborted'> => {
  const end = clock.monotonic() + ms;
  while (!signal.aborted) {
    const left = end - clock.monotonic();
    if (left <= 0) return 'elapsed';
    const before = momentOf(clock);
    await clock.sleep(Math.min(left, LOOK_EVERY), signal);
    const { wall, monotonic } = momentOf(clock);
    if (wall - before.wall - (monotonic - before.monotonic) > SLEPT) return 'resumed';
  }
  return 'aborted';
};
