import { firstAfterLoss, heldOff, LIMITS, paceOf, repetition, type Chance } from '@rollcall/check-schedule';
import type { CheckAnswer } from '@rollcall/wire';
import type { Reading } from './reading.js';

/** What a machine remembers from one check to the next: the last good interval, in milliseconds, and whether the plane is lost. */
export type Course = { readonly interval: number; readonly lost: boolean };

/** When a machine checks in again after this came back, as an agent does; the wait in milliseconds. */
export const nextCheck = (
  { outcome, status, retryAfter }: Pick<Reading<Pick<CheckAnswer, 'interval'>>, 'outcome' | 'status' | 'retryAfter'>,
  { interval, lost }: Course,
  chance: Chance,
): { readonly course: Course; readonly wait: number } => {
  if (outcome.kind === 'accepted') {
    const { wait, lastGood } = paceOf(outcome.answer.interval, interval, LIMITS);
    return { course: { interval: lastGood, lost: false }, wait };
  }
  if (status === null)
    return { course: { interval, lost: true }, wait: (lost ? repetition : firstAfterLoss)(interval, chance, LIMITS) };
  const wait = retryAfter === null ? repetition(interval, chance, LIMITS) : heldOff(retryAfter, chance, LIMITS);
  return { course: { interval, lost }, wait };
};
