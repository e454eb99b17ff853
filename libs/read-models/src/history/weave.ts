import type { HistoryEntry } from '@rollcall/wire';
import { bodyOf } from '../understand.js';
import type { Gap } from '../gaps.js';
import type { HistoryLine } from './project.js';
import { checksSentence, eventSentence, gapSentence, type NameOf } from './sentence.js';

const utc = (instant: number): string => new Date(instant).toISOString();

const shown = (line: HistoryLine, nameOf: NameOf): HistoryEntry =>
  line.kind === 'event'
    ? {
        kind: 'event',
        revision: line.revision,
        at: utc(line.at),
        type: line.type,
        actor: line.actor,
        body: bodyOf(line.body) ?? {},
        sentence: eventSentence(line, nameOf),
      }
    : {
        kind: 'checks',
        revision: line.revision,
        at: utc(line.at),
        until: utc(line.lastAt),
        count: line.checks,
        said: line.said,
        sentence: checksSentence(line),
      };

/**
 * Puts the times in which nobody listened between the lines. Lines keep the order of their revisions; a gap comes before the
 * first line that began after it did.
 *
 * @param lines by revision, ascending
 * @param gaps by time, ascending
 */
export const weave = (lines: readonly HistoryLine[], gaps: readonly Gap[], nameOf: NameOf): readonly HistoryEntry[] => {
  const entries: HistoryEntry[] = [];
  const waiting = [...gaps];
  for (const line of lines) {
    while (waiting.length > 0 && waiting[0]!.from < line.at) entries.push(notObserved(waiting.shift()!));
    entries.push(shown(line, nameOf));
  }
  return [...entries, ...waiting.map(notObserved)];
};

const notObserved = (gap: Gap): HistoryEntry => ({
  kind: 'not-observed',
  at: utc(gap.from),
  until: utc(gap.until),
  sentence: gapSentence(gap),
});
