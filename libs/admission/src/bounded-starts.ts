import type { Instant } from '@rollcall/decider';

/** Sign-ins that anybody can begin at once, and milliseconds after which one more can: at most 300 codes live at a time. */
const BURST = 100;
const EACH_MS = 3_000;

/** When all that were begun are made up for; a time of one clock. */
export type Starts = Instant;

/** The starts after one more, and the milliseconds until it may be; 0: now. Nobody is known who asks, so all are counted together (O2). */
export const afterStart = (starts: Starts | null, now: Instant): { readonly starts: Starts; readonly wait: number } => {
  const from = Math.max(starts ?? now, now);
  const wait = Math.max(0, from - now - (BURST - 1) * EACH_MS);
  return { starts: wait > 0 ? from : from + EACH_MS, wait };
};
