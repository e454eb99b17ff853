import type { HistoryEntry } from '@rollcall/wire';
import { bodyOf, understandEvent } from '../understand.js';
import type { Gap } from '../gaps.js';
import { standing } from '../standing.js';
import type { BlockerBefore } from './blockers-sentence.js';
import type { HistoryLine } from './project.js';
import { checksSentence, eventSentence, gapSentence, type NameOf } from './sentence.js';

const utc = (instant: number): string => new Date(instant).toISOString();

const shown = (line: HistoryLine, nameOf: NameOf, before: readonly BlockerBefore[]): HistoryEntry =>
  line.kind === 'event'
    ? {
        kind: 'event',
        revision: line.revision,
        at: utc(line.at),
        type: line.type,
        actor: line.actor,
        body: bodyOf(line.body) ?? {},
        sentence: eventSentence(line, nameOf, before),
      }
    : {
        kind: 'checks',
        revision: line.revision,
        at: utc(line.at),
        until: utc(line.lastAt),
        count: line.checks,
        said: line.said,
        ...(line.generation === undefined ? {} : { generation: line.generation }),
        sentence: checksSentence(line),
      };

/**
 * Puts the times in which nobody listened between the lines. Lines keep the order of their revisions; a gap comes before the
 * first line that began after it did.
 *
 * @param lines by revision, ascending
 * @param gaps by time, ascending
 * @param before the blockers that stood before the first line
 */
export const weave = (
  lines: readonly HistoryLine[],
  gaps: readonly Gap[],
  nameOf: NameOf,
  before: readonly BlockerBefore[],
): readonly HistoryEntry[] => {
  const entries: HistoryEntry[] = [];
  const waiting = [...gaps];
  let stood = before;
  for (const line of lines) {
    while (waiting.length > 0 && waiting[0]!.from < line.at) entries.push(notObserved(waiting.shift()!));
    entries.push(shown(line, nameOf, stood));
    stood = blockersAfter(stood, line);
  }
  return [...entries, ...waiting.map(notObserved)];
};

/** The blockers that stand after a line of a history; a line that tells nothing about them, or nothing readable, leaves them as they are (O25). */
export const blockersAfter = (before: readonly BlockerBefore[], line: HistoryLine): readonly BlockerBefore[] => {
  if (line.kind !== 'event') return before;
  const understood = understandEvent(line.type, line.body);
  return understood.understood && understood.fact.type === 'BlockersChanged'
    ? standing(before, understood.fact.blockers, line.at)
    : before;
};

/** How many changes of blockers are looked back at. */
export const LOOK_BACK = 1_000;

/**
 * The blockers that stand after the newest changes of a history, oldest first. Where there may be more changes than were looked at, those that stood at the
 * first of them are told without how long they lasted.
 */
export const blockersAfterAll = ([oldest, ...later]: readonly HistoryLine[]): readonly BlockerBefore[] => {
  if (oldest === undefined) return [];
  const known = blockersAfter([], oldest);
  const first = later.length + 1 < LOOK_BACK ? known : known.map(({ code }) => ({ code, since: null }));
  return later.reduce<readonly BlockerBefore[]>(blockersAfter, first);
};

const notObserved = (gap: Gap): HistoryEntry => ({
  kind: 'not-observed',
  at: utc(gap.from),
  until: utc(gap.until),
  sentence: gapSentence(gap),
});
