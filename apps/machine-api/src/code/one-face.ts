import type { Clock } from '@rollcall/lifetimes';

/** The least that an answer about a code takes, in milliseconds: more than what a look-up that finds something takes longer than one that does not. */
export const FLOOR_MS = 50;

/** Does something, and tells neither its success nor its refusal before the floor: so a code that never existed has one face with others in time, too (O12). */
export const notBefore = async <Result>(clock: Clock, ms: number, work: () => Promise<Result>): Promise<Result> => {
  const [outcome] = await Promise.allSettled([work(), clock.sleep(ms)]);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
};
