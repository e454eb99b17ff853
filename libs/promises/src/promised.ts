import type { Instant } from '@rollcall/decider';
import type { NodePromise } from '@rollcall/promise-book';
import { NotASchedule, parseSchedule, type Schedule } from './schedule.js';

/** Schedules of a promise as they can be judged. A text that this version cannot read promises nothing. */
const schedulesOf = (promise: NodePromise): readonly Schedule[] =>
  promise.schedules.flatMap((text) => {
    try {
      return [parseSchedule(text)];
    } catch (error) {
      if (error instanceof NotASchedule) return [];
      throw error;
    }
  });

/** Whether presence is promised at an instant: by any of the schedules. */
export const isPromised = (promise: NodePromise | null, instant: Instant): boolean =>
  promise !== null && schedulesOf(promise).some((schedule) => schedule.covers(instant));

/** Whether a promise is kept: `not-now` where nothing is promised at that instant. */
export const promiseState = (
  promise: NodePromise,
  isPresent: boolean,
  instant: Instant,
): 'held' | 'broken' | 'not-now' => (!isPromised(promise, instant) ? 'not-now' : isPresent ? 'held' : 'broken');

/** The next beginning of promised time after an instant that is in none; null: there is none. */
export const nextPromised = (promise: NodePromise | null, after: Instant): Instant | null => {
  const starts = promise === null ? [] : schedulesOf(promise).map((schedule) => schedule.nextStart(after));
  const ahead = starts.filter((start) => start !== null);
  return ahead.length === 0 ? null : Math.min(...ahead);
};
