import type { CheckPolicy } from './commands.js';
import type { ChainStep, CheckedIn } from './facts.js';

/** A chain token that was issued, by its number, and the interval (seconds) of the answer that carried it; null when unknown. */
export type Link = { readonly number: number; readonly interval: number | null };

/**
 * The newest chain token, and the one that the newest check presented. An honest machine presents one of the two: the answer to its
 * last check arrived, or it did not. Null when unknown: before the first check, and after the head was folded from the
 * record. Resettable: it costs a signal, never an alarm.
 */
export type Chain = { readonly cur: Link; readonly prev: Link | null } | null;

/** The step that a recorded check takes. Numbers only rise, also after a reset, as far as the machine's own token tells. */
export const nextStep = (chain: Chain, presented: number | null): ChainStep => ({
  presented,
  issued: Math.max(chain?.cur.number ?? 0, presented ?? 0) + 1,
});

/** Whether a check may come from the holder of the newest answer, or of the one before: it presents one of the two, or cannot be compared. */
export const isNewestTwo = (chain: Chain, presented: number | null): boolean =>
  chain === null || presented === null || linkOf(chain, presented) !== undefined;

/** The chain after a recorded check. */
export const advance = (chain: Chain, { chain: step, interval }: CheckedIn): Chain => {
  if (!step) return null;
  const { presented, issued } = step;
  const prev = presented === null ? null : (linkOf(chain, presented) ?? { number: presented, interval: null });
  return { cur: { number: issued, interval }, prev };
};

/**
 * Seconds of silence after which a machine counts as absent: three of the longest interval that it may be following, and never under the
 * floor (O22). It may be following the answer whose token it presented, and every later one, this one included, because it
 * is not known to have arrived. So a longer interval counts at once, and a shorter one from the check on that shows its arrival.
 */
export const windowAfter = (
  chain: Chain,
  window: number | null,
  presented: number | null,
  { interval, windowFloor }: CheckPolicy,
): number => {
  const followed = intervalsSince(chain, presented);
  const least = Math.max(windowFloor, 3 * interval);
  // Without a token of ours the machine may be following any answer so far.
  return followed ? Math.max(least, ...followed.map((seconds) => 3 * seconds)) : Math.max(least, window ?? 0);
};

const intervalsSince = (chain: Chain, presented: number | null): readonly number[] | null => {
  if (!chain) return null;
  const { cur, prev } = chain;
  if (presented === cur.number) return known([cur.interval]);
  return presented === prev?.number ? known([prev.interval, cur.interval]) : null;
};

const known = (intervals: readonly (number | null)[]): readonly number[] | null =>
  intervals.every((interval) => interval !== null) ? intervals : null;

const linkOf = (chain: Chain, number: number): Link | undefined =>
  [chain?.cur, chain?.prev].find((link) => link?.number === number) ?? undefined;
