import { describe, expect, it } from '@jest/globals';
import { STREAM_START, type RecordedFact, type StreamPlace } from '@rollcall/event-store';
import { admitted, checkedIn, confirmed, registered } from '@rollcall/machine/testing';
import fc from 'fast-check';
import { RecordBuilder, type Anything } from '../testing/index.js';
import { PageOfLines, type ReplayLine } from './page-of-lines.js';
import { readReplayPlace, replayPlaceText } from './replay.js';

const M = 'm1';

/** Facts of one machine, a second apart unless a step says otherwise. */
const factsOf = (steps: readonly { readonly fact: Anything; readonly later?: number }[]): readonly RecordedFact[] => {
  const record = new RecordBuilder();
  for (const { fact, later = 1 } of steps) record.after(later).record(M, fact);
  return record.batches().flatMap((batch) => batch.facts);
};

/** All pages of at most so many lines and facts. */
const pagesOf = (facts: readonly RecordedFact[], most: number, mostFacts = Infinity): readonly PageOfLines[] => {
  const pages: PageOfLines[] = [];
  let place: StreamPlace = STREAM_START;
  while (place.revision < facts.length) {
    const page = new PageOfLines(place, facts[place.revision - 1] ?? null, most);
    let taken = 0;
    for (const fact of facts.slice(place.revision)) if ((taken += 1) > mostFacts || !page.take(fact)) break;
    pages.push(page);
    place = page.place;
  }
  return pages;
};

/** The pages as one, where what was parted is a whole again. */
const together = (pages: readonly PageOfLines[]): readonly ReplayLine[] => {
  const lines: ReplayLine[] = [];
  for (const { lines: own, continues } of pages) {
    const [first, ...rest] = own;
    const open = lines.at(-1);
    if (continues && first?.kind === 'checks' && open?.kind === 'checks') {
      const { lastAt, lastRevision, window } = first;
      lines.splice(-1, 1, { ...open, lastAt, lastRevision, window, checks: open.checks + first.checks }, ...rest);
    } else lines.push(...own);
  }
  return lines;
};

const step = fc.record({
  fact: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(checkedIn(), checkedIn({ generation: 2 })) },
    { weight: 1, arbitrary: fc.constant(checkedIn({ said: 'stopping', reason: 'update' })) },
    { weight: 1, arbitrary: fc.constantFrom<Anything>(registered(2), confirmed(2), { type: 'MachineDreamt' }) },
  ),
  later: fc.constantFrom(1, 30, 121),
});

describe('a page of a replay', () => {
  it('leaves nothing out: pages of any size make the whole, in order (U4)', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        (steps, most, few) => {
          const facts = factsOf(steps);
          const pages = pagesOf(facts, most, few);
          const whole = together(pagesOf(facts, Infinity));
          expect(together(pages)).toEqual(whole);
          expect(pages.filter(({ lines }) => lines.length > most)).toEqual([]);
          const counted = whole.reduce((sum, line) => sum + (line.kind === 'checks' ? line.checks : 1), 0);
          expect(counted).toBe(facts.length);
        },
      ),
    );
  });

  it('holds one line of any number of checks with nothing between them (U4)', () => {
    const page = new PageOfLines(STREAM_START, null, 10);
    const [fact] = factsOf([{ fact: checkedIn() }]);
    for (let revision = 1; revision <= 50_000; revision += 1)
      page.take({ ...fact!, revision, recordedAt: fact!.recordedAt + revision * 30_000 });
    expect(page.lines).toMatchObject([{ kind: 'checks', checks: 50_000, revision: 1, lastRevision: 50_000 }]);
  });

  it('ends a run of checks where another generation is presented (O19, U4)', () => {
    const [page] = pagesOf(
      factsOf([admitted(), checkedIn(), checkedIn(), checkedIn({ generation: 2 })].map((fact) => ({ fact }))),
      10,
    );
    expect(page?.lines.map((line) => line.kind === 'checks' && [line.generation, line.checks])).toEqual([
      false,
      [1, 2],
      [2, 1],
    ]);
  });

  it('passes over a check that cannot be read, and goes on behind it', () => {
    const unread = { ...checkedIn(), window: 'long' } as unknown as Anything;
    const [page] = pagesOf(factsOf([{ fact: checkedIn() }, { fact: unread }, { fact: checkedIn() }]), 10);
    expect([page?.place.revision, page?.lines.length]).toEqual([3, 1]);
  });
});

it('keeps the place of a replay as a text', () => {
  const facts = { revision: 7, recordedAt: 1_767_268_800_000 };
  const place = { facts, refusals: { revision: 0, recordedAt: 0 }, deafness: 1_767_268_800_000 };
  expect(readReplayPlace(replayPlaceText(place))).toEqual(place);
  for (const text of ['', '7', '7.8.9', '7.8.9.1', '7.8.9.1.x', `${'9'.repeat(11)}.1.1.1.1`])
    expect(readReplayPlace(text)).toBeNull();
});
