import type { Clock } from './clock.js';

/** Does something, and tells neither its success nor its refusal before so many milliseconds: so how long it took says nothing about what was found. */
export const notBefore = async <Result>(clock: Clock, ms: number, work: () => Promise<Result>): Promise<Result> => {
  const [outcome] = await Promise.allSettled([work(), clock.sleep(ms)]);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
};
