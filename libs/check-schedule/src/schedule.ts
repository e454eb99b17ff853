import { INTERVAL_CEILING_SECONDS, INTERVAL_DEFAULT_SECONDS, INTERVAL_FLOOR_SECONDS } from '@rollcall/wire';

/** The bounds of every wait, in milliseconds. Arguments and not constants, so that a test can live in short time. */
export type Limits = {
  /** No two checks are closer than this, whatever the plane or the machine says (O16). (Default: 10,000) */
  readonly floor: number;
  /** No interval is followed beyond this. (Default: 3,600,000) */
  readonly ceiling: number;
  /** The longest `Retry-After` that is obeyed. (Default: 300,000) */
  readonly retryAfterCap: number;
  /** The longest wait of an installation that the plane does not know. (Default: 900,000) */
  readonly unknownCap: number;
};

/** The bounds for machines. */
export const LIMITS: Limits = {
  floor: INTERVAL_FLOOR_SECONDS * 1_000,
  ceiling: INTERVAL_CEILING_SECONDS * 1_000,
  retryAfterCap: 300_000,
  unknownCap: 900_000,
};

/** Milliseconds, before any answer named another. */
export const DEFAULT_INTERVAL = INTERVAL_DEFAULT_SECONDS * 1_000;

/** A source of chance in [0, 1), as an argument. */
export type Chance = () => number;

/** What an answer's interval means: how long to wait now, and what to fall back on when a later one is bad. Milliseconds. */
export type Pace = { readonly wait: number; readonly lastGood: number };

/**
 * Follows an answer's interval (seconds, of any type: it came over a wire). A value that is missing or no positive number keeps the
 * last good one; one out of bounds is followed as far as the bounds allow and is not remembered (O16, C10).
 */
export const paceOf = (offered: unknown, lastGood: number, limits: Limits): Pace => {
  if (typeof offered !== 'number' || !Number.isFinite(offered) || offered <= 0)
    return { wait: within(lastGood, limits), lastGood };
  const wait = within(offered * 1_000, limits);
  return { wait, lastGood: wait === offered * 1_000 ? wait : lastGood };
};

/** A failed check is repeated at the interval, 10 % to either side and never slower: a healthy machine that backs off becomes absent. */
export const repetition = (interval: number, chance: Chance, limits: Limits): number =>
  within(interval * (0.9 + 0.2 * chance()), limits);

/**
 * The first repetition after the plane was lost: anywhere in the interval, so that a fleet that lost it in one moment does not come
 * back in one moment.
 */
export const firstAfterLoss = (interval: number, chance: Chance, limits: Limits): number =>
  within(interval * chance(), limits);

/** What the plane asked for with `Retry-After`: never sooner, up to a fifth later, at least the floor, at most the cap (C16). */
export const heldOff = (askedFor: number, chance: Chance, limits: Limits): number =>
  Math.min(limits.retryAfterCap, Math.max(limits.floor, askedFor) * (1 + 0.2 * chance()));

/** Unknown to the plane for the nth time in a row: doubling from twice the interval. It may be a restored plane, so it never ends (O20). */
export const unknownAgain = (interval: number, times: number, limits: Limits): number =>
  Math.max(limits.floor, Math.min(limits.unknownCap, interval * 2 ** Math.min(times, 30)));

const within = (wait: number, { floor, ceiling }: Limits): number => Math.min(ceiling, Math.max(floor, wait));
