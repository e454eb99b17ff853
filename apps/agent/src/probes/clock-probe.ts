import type { ClockSighting } from '../check/clock-sighting.js';
import { Probe } from './probe.js';

/** Less than this, in milliseconds, is no matter of a wrong clock. */
const TOLERATED = 60_000;
/** So many sightings in a row have to differ: one is an accident. */
const SIGHTINGS = 3;

/** What is held of the clock, and how many sightings in a row have differed. */
export type ClockOpinion = { readonly clock: 'unknown' | 'right' | 'wrong'; readonly differing: number };

/** Before any sighting. */
export const NO_OPINION: ClockOpinion = { clock: 'unknown', differing: 0 };

/**
 * The clock is wrong when the last three accepted checks all differ from the plane's time by more than a minute, and right again after one
 * that does not. What the time under way could explain counts for neither; so does a clock that was set while a check was under way.
 */
export const clockOpinion = (before: ClockOpinion, { sentAt, receivedAt, serverTime }: ClockSighting): ClockOpinion => {
  // The plane's time is somewhere between sending and receiving, so the difference is somewhere between these two.
  const least = serverTime - Math.max(sentAt, receivedAt);
  const most = serverTime - Math.min(sentAt, receivedAt);
  if (least >= -TOLERATED && most <= TOLERATED) return { clock: 'right', differing: 0 };
  if (most >= -TOLERATED && least <= TOLERATED) return before;
  const differing = Math.min(SIGHTINGS, before.differing + 1);
  return { clock: differing === SIGHTINGS ? 'wrong' : before.clock, differing };
};

/** Knows from the answers to checks whether the clock of this machine is right. */
export class ClockProbe extends Probe {
  override readonly codes = ['clock-wrong'];
  #opinion = NO_OPINION;

  /** A check was accepted. */
  observe(sighting: ClockSighting): void {
    const before = this.#opinion;
    this.#opinion = clockOpinion(before, sighting);
    if (this.#opinion.clock !== before.clock) this.lookAgain();
  }

  override async probe(): Promise<readonly string[]> {
    if (this.#opinion.clock === 'unknown') throw new Error('too few checks have been answered since the start');
    return this.#opinion.clock === 'wrong' ? this.codes : [];
  }
}
