import type { Instant } from '@rollcall/decider';
import { STREAM_START, type EventStore, type RecordedEvent, type StreamPlace } from '@rollcall/event-store';
import { machine as machineRules, machineStream, refusalsStream, type CredentialRefused } from '@rollcall/machine';
import type { HistoryEntry, HistoryPage } from '@rollcall/wire';
import { HoleInTheRecord } from '../apply.js';
import { OLD_AFTER_SECONDS } from '../snapshot.js';
import type { BlockerBefore } from './blockers-sentence.js';
import { PageOfLines } from './page-of-lines.js';
import { duration } from './duration.js';
import { plainly, type NameOf } from './sentence.js';
import { blockersAfterAll, LOOK_BACK, weave } from './weave.js';

/** Which page of a machine's replay. */
export type ReadPage = {
  /** The place that the page follows; null: from the beginning, or from `from`. */
  readonly after: ReplayPlace | null;
  /** Only what was recorded at this time or later. */
  readonly from?: Instant | null;
  /** Only what was recorded until this time. */
  readonly to?: Instant | null;
  /** Lines, 1 to 1,000; what nobody observed and refused uses come on top. (Default: 500) */
  readonly limit?: number;
  /** How actors are called in sentences. (Default: kind and id) */
  readonly nameOf?: NameOf;
};

/** How far a replay has come: in the machine's own stream, in that of the refused uses of its credentials, and in the times of deafness. */
export type ReplayPlace = {
  readonly facts: StreamPlace;
  readonly refusals: StreamPlace;
  /** What began before is told. */
  readonly deafness: Instant;
};

/** The most facts that one page is made of: 20,000 checks are a week. */
export const FACTS_OF_A_PAGE = 20_000;
/** The most times of deafness in one page: it ends before the next one. */
export const GAPS_OF_A_PAGE = 500;
/** The most facts that are in memory at a time. */
const PART = 2_000;

/** A place as callers keep it between two pages. */
export const replayPlaceText = ({ facts, refusals, deafness }: ReplayPlace): string =>
  [facts.revision, facts.recordedAt, refusals.revision, refusals.recordedAt, deafness].join('.');

/** Reads such a text; null where it is none. */
export const readReplayPlace = (text: string): ReplayPlace | null => {
  if (!/^\d{1,10}(\.\d{1,15}){4}$/.test(text)) return null;
  const [revision = 0, recordedAt = 0, refusal = 0, refusedAt = 0, deafness = 0] = text.split('.').map(Number);
  return { facts: { revision, recordedAt }, refusals: { revision: refusal, recordedAt: refusedAt }, deafness };
};

/**
 * A machine's whole past, page by page, from the record itself: no read model has to be right, or even be there, for what happened to be told
 * in full and in order (U4), with the times in which the plane was deaf (B1).
 */
export class ReplayQueries {
  constructor(
    private readonly store: Pick<EventStore, 'newest' | 'view' | 'readPast' | 'readStreamAfter' | 'readGaps'>,
    /** Two neighbouring ears further apart than this many seconds have a gap between them. */
    private readonly gapSeconds = 15,
  ) {}

  /**
   * The next page; null where nothing is recorded of the machine.
   *
   * @throws HoleInTheRecord where a fact is missing: it is never passed over
   */
  async page(machine: string, query: ReadPage): Promise<HistoryPage | null> {
    const { from = null, to = null, limit = 500, nameOf = plainly } = query;
    const stream = machineStream(machine);
    // Asked before anything is read, so that all of this has to be found.
    const view = await this.store.view(machineRules, { stream });
    if (view === null) return null;
    const newest = await this.store.newest();
    const { heardUntil } = await this.store.readPast(refusalsStream(machine), newest.recordedAt, { newest: 1 });
    const start = query.after ?? (await this.#startAt(machine, from));
    const page = new PageOfLines(start.facts, query.after && (await this.#factAt(stream, start.facts)), limit);
    const gaps = await this.store.readGaps(
      { gapSeconds: this.gapSeconds, since: start.deafness, before: to, endedAfter: from ?? 0 },
      GAPS_OF_A_PAGE + 1,
    );
    // Where there are more of them than a page holds, it goes no further than to the first that it leaves out.
    const cut = gaps[GAPS_OF_A_PAGE]?.from ?? null;
    const filled = await this.#fill(page, stream, view.revision, cut ?? to);
    const isOver = page.place.revision >= view.revision && view.state.enrolment?.deleted === true;
    const ended = filled && (cut === null || (isOver && cut >= page.place.recordedAt));
    const until = ended ? to : filled ? cut : page.place.recordedAt;
    const refused = await this.#refusals(machine, start.refusals, until);
    // After its deletion nobody listens for it.
    const end = isOver ? page.place.recordedAt : until;
    const within = gaps.filter((gap) => end === null || gap.from < end);
    const woven = weave(page.lines, within, nameOf, await this.#blockersBefore(stream, start.facts, page));
    const refusals = refused.at(-1) ?? start.refusals;
    return {
      // It tells all of the record; what nobody could have heard is in no record.
      asOf: heardUntil === null ? null : new Date(heardUntil).toISOString(),
      behind: heardUntil === null || newest.recordedAt - heardUntil > OLD_AFTER_SECONDS * 1_000,
      machine: { id: machine, name: view.state.name?.value ?? null },
      entries: withRefusals(markContinued(woven, page.continues), refused.map(refusedEntry)),
      next: ended ? null : replayPlaceText({ facts: page.place, refusals, deafness: until ?? 0 }),
      facts: { through: page.place.revision, recorded: view.revision },
    };
  }

  /** @returns whether there is nothing after this page */
  async #fill(page: PageOfLines, stream: string, recorded: number, to: Instant | null): Promise<boolean> {
    const stop = page.place.revision + FACTS_OF_A_PAGE;
    while (page.place.revision < stop) {
      if (page.place.revision >= recorded) return true;
      const facts = await this.store.readStreamAfter(stream, page.place, PART);
      if (facts.length === 0)
        throw new HoleInTheRecord(`a fact is missing after revision ${page.place.revision} of ${stream}`);
      for (const fact of facts) {
        if (to !== null && fact.recordedAt > to) return true;
        if (!page.take(fact)) return false;
      }
    }
    return page.place.revision >= recorded;
  }

  /** The beginning, or behind the last fact before a time. What was deaf before there was the machine is not its history. */
  async #startAt(machine: string, from: Instant | null): Promise<ReplayPlace> {
    const [first] = await this.store.readStreamAfter(machineStream(machine), STREAM_START, 1);
    const behind = async (stream: string): Promise<StreamPlace> => {
      if (from === null) return STREAM_START;
      const { events, newestCheckIn } = await this.store.readPast(stream, from - 1, { newest: 1 });
      const [event, check] = [events.at(-1) ?? STREAM_START, newestCheckIn ?? STREAM_START];
      const { revision, recordedAt } = event.revision > check.revision ? event : check;
      return { revision, recordedAt };
    };
    return {
      facts: await behind(machineStream(machine)),
      refusals: await behind(refusalsStream(machine)),
      deafness: first?.recordedAt ?? 0,
    };
  }

  async #factAt(stream: string, { revision, recordedAt }: StreamPlace) {
    if (revision === 0) return null;
    const [fact = null] = await this.store.readStreamAfter(stream, { revision: revision - 1, recordedAt }, 1);
    return fact;
  }

  /** Refused uses from a place until a time: one an hour, reason and generation at most. */
  async #refusals(machine: string, after: StreamPlace, until: Instant | null): Promise<readonly RecordedEvent[]> {
    const found: RecordedEvent[] = [];
    for (;;) {
      const facts = await this.store.readStreamAfter(refusalsStream(machine), found.at(-1) ?? after, PART);
      const events = facts.filter((fact) => fact.kind === 'event');
      const within = events.filter(({ recordedAt }) => until === null || recordedAt <= until);
      found.push(...within);
      if (within.length < events.length || events.length < PART) return found;
    }
  }

  /** What stood before the page, where a line of it tells of a change. */
  async #blockersBefore(stream: string, start: StreamPlace, page: PageOfLines): Promise<readonly BlockerBefore[]> {
    if (start.revision === 0 || !page.lines.some((line) => line.kind === 'event' && line.type === 'BlockersChanged'))
      return [];
    const wanted = { type: 'BlockersChanged', newest: LOOK_BACK };
    const { events } = await this.store.readPast(stream, start.recordedAt, wanted);
    const changes = events
      .filter(({ revision }) => revision <= start.revision)
      .map(({ revision, recordedAt: at, event: { type }, actor, body }) => ({
        kind: 'event' as const,
        machine: stream,
        revision,
        at,
        type,
        actor,
        body,
      }));
    return blockersAfterAll(changes);
  }
}

/** So that who puts pages together can make one run of two parts. */
const markContinued = (entries: readonly HistoryEntry[], continues: boolean): readonly HistoryEntry[] => {
  const first = entries.findIndex(({ kind }) => kind !== 'not-observed');
  return entries.map((entry, index) =>
    continues && index === first && entry.kind === 'checks' ? { ...entry, continues } : entry,
  );
};

const refusedEntry = ({ recordedAt, event }: RecordedEvent): HistoryEntry => {
  // Nothing else is recorded in that stream.
  const { code, generation, keyHash, lastAcceptedAt, refusedAt } = event as unknown as CredentialRefused;
  const which = generation === null ? 'an old credential' : `credential ${generation}`;
  const lag = lastAcceptedAt === null ? null : duration(Date.parse(refusedAt) - Date.parse(lastAcceptedAt));
  return {
    kind: 'refused',
    at: new Date(recordedAt).toISOString(),
    code,
    generation,
    keyHash,
    lastAcceptedAt,
    sentence: `${which} was refused (${code})${lag === null ? '' : `, ${lag} after the last accepted check`}`,
  };
};

/** Puts refused uses where they happened; they are of a stream of their own, so only their time places them. */
const withRefusals = (entries: readonly HistoryEntry[], refusals: readonly HistoryEntry[]): readonly HistoryEntry[] => {
  const waiting = [...refusals];
  const all = entries.flatMap((entry) => {
    const before = waiting.findIndex(({ at }) => at >= entry.at);
    return [...waiting.splice(0, before === -1 ? waiting.length : before), entry];
  });
  return [...all, ...waiting];
};
