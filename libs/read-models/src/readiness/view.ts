import type { Instant } from '@rollcall/decider';
import { BLOCKER_CODES, blockerOf } from '@rollcall/machine';
import type { BlockerSummary, EpisodeView } from '@rollcall/wire';
import { endOf, type Episode } from './project.js';

const utc = (instant: number): string => new Date(instant).toISOString();

/** On how many machines a blocker stands, since when on the first of them, and for how long in all, in whole seconds. */
export type Standing = {
  readonly code: string;
  readonly machines: number;
  readonly since: Instant;
  readonly seconds: number;
};

/**
 * The blockers that stand, in the order of the catalogue, then the codes that nobody here knows by code: those are shown as such (O21).
 *
 * @param all also those of the catalogue that stand on no machine
 */
export const blockerSummaries = (standing: readonly Standing[], all: boolean): readonly BlockerSummary[] => {
  const byCode = new Map(standing.map((one) => [one.code, one]));
  const unknown = [...byCode.keys()].filter((code) => !BLOCKER_CODES.includes(code)).sort();
  return [...BLOCKER_CODES, ...unknown]
    .filter((code) => all || byCode.has(code))
    .map((code) => {
      const here = byCode.get(code);
      return {
        ...blockerOf(code),
        known: BLOCKER_CODES.includes(code),
        machines: here?.machines ?? 0,
        since: here === undefined ? null : utc(here.since),
        seconds: here?.seconds ?? 0,
      };
    });
};

/** An episode as people see it. One that stands has lasted until now, and now is what the read model has heard (B1). */
export const episodeView = (episode: Episode, heardUntil: Instant): EpisodeView => {
  const { code, since } = episode;
  const { sentence, fix, blocksWork } = blockerOf(code);
  const until = endOf(episode, heardUntil);
  return {
    code,
    since: utc(since),
    sentence,
    fix,
    blocksWork,
    until: until === null ? null : utc(until),
    // A person's word is shown before the plane has listened past it.
    seconds: Math.max(0, Math.floor(((until ?? heardUntil) - since) / 1_000)),
  };
};
