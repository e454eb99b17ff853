import type { Instant } from '@rollcall/decider';
import { BLOCKER_CODES, blockerOf, type Blocker } from '@rollcall/machine';
import type { StandingBlocker } from '../standing.js';
import { duration } from './duration.js';

/** A blocker that stood before a line of a history; null: it began further back than anybody looked. */
export type BlockerBefore = StandingBlocker<Instant | null>;

/**
 * A change of blockers as a sentence: what it means for work, what began, and how long what ended had lasted (O32).
 *
 * @param before what stood until then
 * @param codes what the machine says now
 * @param at when it said so
 */
export const blockersSentence = (before: readonly BlockerBefore[], codes: readonly string[], at: Instant): string => {
  const stood = new Set(before.map(({ code }) => code));
  const stands = [...new Set(codes)].map(blockerOf);
  const [begun, ended] = [
    stands.filter(({ code }) => !stood.has(code)),
    before.filter(({ code }) => !codes.includes(code)),
  ];
  const wasBlocked = before.some(({ code }) => blockerOf(code).blocksWork);
  const blocking = stands.filter(({ blocksWork }) => blocksWork);
  const reasons = begun.filter(({ blocksWork }) => blocksWork);
  const remarks = begun.filter(({ blocksWork }) => !blocksWork);
  const lessReasons = reasons.length === 0 && ended.some(({ code }) => blockerOf(code).blocksWork);
  const parts = [
    ...(wasBlocked && blocking.length === 0 ? ['can take work again'] : []),
    ...(reasons.length > 0
      ? [`${wasBlocked ? 'one more reason not to take work' : 'cannot take work any more'}: ${listed(reasons)}`]
      : []),
    ...(remarks.length > 0 ? [`note: ${listed(remarks)}`] : []),
    ...ended.map(
      ({ code, since }) => `${named(code)} ${since === null ? 'is over' : `lasted ${duration(at - since)}`}`,
    ),
    ...(lessReasons && blocking.length > 0 ? [`still cannot take work: ${listed(blocking)}`] : []),
  ];
  return parts.join('; ') || 'reports the same blockers as before';
};

const listed = (blockers: readonly Blocker[]): string =>
  blockers.map(({ sentence, code }) => `${sentence} (${code})`).join(', ');

/** As the subject of a sentence. */
const named = (code: string): string =>
  BLOCKER_CODES.includes(code) ? `${blockerOf(code).sentence} (${code})` : `${code}, which this plane does not know,`;
