import type { RecordedFact, StreamPlace } from '@rollcall/event-store';
import { project, type ChecksLine, type EventLine, type HistoryLine } from './project.js';

/** A line that is made of the record itself: a run of checks is of one generation, too. */
export type ReplayLine = EventLine | (ChecksLine & { readonly generation: number });

/**
 * The lines of one page of a stream, made of its facts in their order. What it holds grows with the lines, and not with the facts: a year of
 * checks with nothing between them is one line.
 */
export class PageOfLines {
  readonly lines: ReplayLine[] = [];
  /** Whether the first line is a run of checks that has begun on the page before. */
  continues = false;
  #newest: ReplayLine | null;

  /**
   * @param place what the page follows
   * @param before the fact at that place; null at the beginning, and where the page stands for itself
   */
  constructor(
    /** Behind the last fact that was taken. */
    public place: StreamPlace,
    before: RecordedFact | null,
    private readonly most: number,
  ) {
    this.#newest = before === null ? null : lineAfter(null, before);
  }

  /** Takes the next fact. @returns false, and takes it not, where it would make one line too many */
  take(fact: RecordedFact): boolean {
    const line = lineAfter(this.#newest, fact);
    const goesOn = line !== null && line.revision === this.#newest?.revision;
    const isFirst = this.lines.length === 0;
    if (!goesOn && this.lines.length >= this.most) return false;
    if (goesOn && !isFirst) this.lines.pop();
    if (goesOn && isFirst) this.continues = true;
    const shown = goesOn && isFirst ? lineAfter(null, fact) : line;
    if (shown !== null) this.lines.push(shown);
    this.#newest = shown ?? this.#newest;
    this.place = { revision: fact.revision, recordedAt: fact.recordedAt };
    return true;
  }
}

/** The newest line with one more check in it, or a new one; null for a check-in that cannot be read. */
const lineAfter = (newest: ReplayLine | null, fact: RecordedFact): ReplayLine | null => {
  const generation = fact.kind === 'check-in' ? fact.checkIn.generation : 0;
  const run = newest?.kind === 'checks' && newest.generation === generation ? newest : undefined;
  const made: HistoryLine[] = [];
  project({ get: () => run, put: (_machine, line) => made.push(line) }, fact);
  const [line] = made;
  if (line === undefined) return null;
  return line.kind === 'checks' ? { ...line, generation } : line;
};
