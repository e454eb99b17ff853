import { describe, expect, it } from '@jest/globals';
import type { Instant } from '@rollcall/decider';
import fc from 'fast-check';
import { gapBetween } from './presence.js';
import { HonestAgent, StreamOnClock } from './testing/index.js';

const START = Date.UTC(2026, 0, 1, 12);
const INTERVAL_MS = 30_000;
const MARK_MS = 5_000;
const TICK_MS = 500;

/** What the plane and its clock do from a time on, in ticks of half a second. */
type Spell =
  | { readonly kind: 'listens'; readonly ticks: number }
  /** Nothing can be recorded: the database, every instance, or the way to them is away. */
  | { readonly kind: 'deaf'; readonly ticks: number }
  /** The same, but only for machines: people and projectors go on recording, which proves nothing. */
  | { readonly kind: 'deaf to machines'; readonly ticks: number }
  | { readonly kind: 'clock steps'; readonly seconds: number };

/**
 * A record and a machine that checks in every half a minute, for as long as the plane hears it. A watcher follows the record, late or at once,
 * and asks the machine's rules after each batch that it has applied.
 */
class Ears {
  readonly stream = new StreamOnClock(START);
  readonly agent = new HonestAgent(this.stream);
  readonly batches: { readonly at: Instant; readonly isEar: boolean }[] = [];
  /** The wall clock of the database, and true time. */
  #wall = START;
  #true = 0;
  #newestAt = 0;
  #newestEarAt = 0;
  #nextCheck = 0;
  #heard = 0;
  #heardUntil: Instant | null = null;
  #gapEnd: Instant | null = null;
  absences = 0;
  talking = true;

  constructor(private readonly lag: number) {}

  live(spells: readonly Spell[]): void {
    for (const spell of spells) {
      if (spell.kind === 'clock steps') this.#wall += spell.seconds * 1_000;
      else for (let tick = 0; tick < spell.ticks; tick += 1) this.#tick(spell.kind);
    }
  }

  #tick(kind: 'listens' | 'deaf' | 'deaf to machines'): void {
    this.#wall += TICK_MS;
    this.#true += TICK_MS;
    // People do something now and then, as often as would keep a record from looking idle.
    if (kind !== 'deaf' && this.#true % 4_000 === 0) this.#record(false);
    if (kind === 'listens') {
      // After an outage the agents come back within an interval.
      if (this.talking && this.#true >= this.#nextCheck) {
        this.#record();
        this.agent.send(this.agent.next());
        this.#nextCheck = this.#true + INTERVAL_MS;
      } else if (this.#true - this.#newestEarAt >= MARK_MS) this.#record();
    }
    this.#watch();
  }

  /** The record's time: never back, and carried on by the writer's steady clock while the wall clock is behind (as `append` does). */
  #record(isEar = true): void {
    const newest = this.batches.at(-1)?.at;
    const carriedOn = newest === undefined ? this.#wall : newest + (this.#true - this.#newestAt);
    this.stream.now = newest === undefined || this.#wall >= newest ? this.#wall : Math.max(newest, carriedOn);
    this.batches.push({ at: this.stream.now, isEar });
    this.#newestAt = this.#true;
    if (isEar) this.#newestEarAt = this.#true;
  }

  #watch(): void {
    while (this.#heard < this.batches.length - this.lag) {
      const { at, isEar } = this.batches[this.#heard]!;
      this.#heard += 1;
      if (!isEar) continue;
      if (this.#heardUntil !== null) this.#gapEnd = gapBetween(this.#heardUntil, at)?.until ?? this.#gapEnd;
      this.#heardUntil = at;
      this.absences += this.stream.do({ type: 'NoteSilence', heardUntil: at, gapEnd: this.#gapEnd }).length;
    }
  }
}

const TWO_WINDOWS = 480;
const spells = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('listens' as const), ticks: fc.integer({ min: 1, max: TWO_WINDOWS }) }),
    fc.record({
      kind: fc.constantFrom('deaf' as const, 'deaf to machines' as const),
      ticks: fc.integer({ min: 1, max: 5 * TWO_WINDOWS }),
    }),
    fc.record({
      kind: fc.constant('clock steps' as const),
      seconds: fc.oneof(fc.constantFrom(3_600, -3_600, 30, -30, 119, -119), fc.integer({ min: -7_200, max: 7_200 })),
    }),
  ),
  { maxLength: 12 },
);

describe('a machine that checks in whenever the plane can hear it (B1)', () => {
  it('is never absent, whatever outages and steps of the clock there are, and however late the watcher is', () => {
    fc.assert(
      fc.property(spells, fc.constantFrom(0, 1, 7, 40), (life, lag) => {
        const ears = new Ears(lag);
        ears.live([{ kind: 'listens', ticks: 80 }, ...life, { kind: 'listens', ticks: TWO_WINDOWS }]);
        expect(ears.absences).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it('is never absent after an outage of any length, at any offset within an interval', () => {
    for (let offset = 0; offset < 60; offset += 1) {
      for (const ticks of [1, 20, 29, 30, 31, 32, 60, 180, 200, 239, 240, 241, 242, 300, 480, 1_200, 7_200]) {
        const ears = new Ears(0);
        ears.live([
          { kind: 'listens', ticks: 120 + offset },
          { kind: 'deaf', ticks },
          { kind: 'listens', ticks: 300 },
        ]);
        expect({ offset, ticks, absences: ears.absences }).toEqual({ offset, ticks, absences: 0 });
      }
    }
  });
});

describe('a machine that has fallen silent', () => {
  it('is absent once, however often it is asked about and whatever happens around it (B1, O22)', () => {
    fc.assert(
      fc.property(spells, fc.constantFrom(0, 1, 7), (life, lag) => {
        const ears = new Ears(lag);
        ears.live([{ kind: 'listens', ticks: 80 }]);
        ears.talking = false;
        ears.live([...life, { kind: 'listens', ticks: TWO_WINDOWS }]);
        expect(ears.absences).toBe(1);
      }),
      { numRuns: 200 },
    );
  });

  it('is absent from a full window after the end of an outage on, and not before (B1)', () => {
    const absentAfter = (ticks: number): number => {
      const ears = new Ears(0);
      ears.live([{ kind: 'listens', ticks: 80 }]);
      ears.talking = false;
      ears.live([
        { kind: 'deaf', ticks: 1_200 },
        { kind: 'listens', ticks },
      ]);
      return ears.absences;
    };
    // The first batch after the outage ends the gap; marks come every five seconds.
    expect([absentAfter(240), absentAfter(241), absentAfter(251)]).toEqual([0, 0, 1]);
  });
});
