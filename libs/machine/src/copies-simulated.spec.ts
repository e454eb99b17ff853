import { describe, expect, it } from '@jest/globals';
import { Refusal } from '@rollcall/decider';
import { amount, inDigits } from '../../../test/support/amount.js';
import { withoutResettable } from './resettable.js';
import { ChainedPlane, chanceOf, Holder, type Sent } from './testing/index.js';

const RUNS = amount({ usual: 10_000, whole: 200_000 });
const COPIES = amount({ usual: 2_000, whole: 100_000 });
const STEPS = 16;

/** One run from its seed: a plane, a network that is late, and whoever holds the credential. */
class Run {
  readonly plane = new ChainedPlane();
  readonly chance: () => number;
  /** What the network has kept: it arrives some time, and nobody waits for the answer any more. */
  #underWay: Sent[] = [];
  /** The place in the record of the check that was answered last. */
  place = 0;

  constructor(readonly seed: number) {
    this.chance = chanceOf(seed);
  }

  /** A check of a holder in any weather. @returns whether it was accepted and the answer arrived */
  check(holder: Holder): boolean {
    this.plane.now += 30_000;
    this.#deliverLate();
    const sent = holder.next({ anew: this.chance() < 0.3 });
    const fate = this.chance();
    if (fate < 0.1) return false;
    if (fate < 0.2) {
      this.#underWay.push(sent);
      return false;
    }
    const answer = this.plane.take(sent);
    if (fate < 0.35) return false;
    // Doubled by the network: the second answer is the first one again, and either of them arrives first; or it comes much later.
    if (fate < 0.45) return this.#heard(holder, sent, this.plane.take(sent));
    if (fate < 0.55) this.#underWay.push(sent);
    if (this.#heard(holder, sent, answer)) return true;
    if (!(answer instanceof Refusal && answer.code === 'stale-check')) return false;
    // Who is told that it is late checks at once, as the start after the highest one.
    const next = holder.next();
    return this.#heard(holder, next, this.plane.take(next));
  }

  #heard(holder: Holder, sent: Sent, answer: ReturnType<ChainedPlane['take']>): boolean {
    if (!holder.hear(answer)) return false;
    this.place = this.plane.placeOf(sent);
    return true;
  }

  /** What can befall a machine between two checks, none of it a copy. */
  befall(holder: Holder): void {
    const what = this.chance();
    if (what < 0.1) holder.restart();
    else if (what < 0.2) holder.restartWithNothing();
    else if (what < 0.22) this.plane.state = withoutResettable(this.plane.state);
    else if (what < 0.24) this.plane.epoch += 1;
  }

  #deliverLate(): void {
    const arriving = this.#underWay.filter(() => this.chance() < 0.5);
    this.#underWay = this.#underWay.filter((sent) => !arriving.includes(sent));
    for (const sent of arriving) this.plane.take(sent);
  }
}

const seeds = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

const honest = (seed: number, steps = STEPS): { readonly run: Run; readonly holder: Holder } => {
  const run = new Run(seed);
  const holder = new Holder(run.chance);
  for (let step = 0; step < steps; step += 1) {
    run.befall(holder);
    run.check(holder);
    // A rotation begins where the one before has come to its end, as an agent does.
    if (run.chance() < 0.05 && run.plane.state.credential.current !== null && run.check(holder))
      holder.rotate(run.plane);
  }
  return { run, holder };
};

it(`raises no alarm in ${inDigits(RUNS)} honest lives with requests lost, late and doubled, answers lost, restarts in order and after a full disk, a kill or a power cut, lost heads and new epochs (B2)`, () => {
  expect(seeds(RUNS).filter((seed) => honest(seed).run.plane.signals.length > 0)).toEqual([]);
});

describe(`of ${inDigits(COPIES)} copies each`, () => {
  /**
   * Lets both check in until there is a signal. An answered check follows the other's where it was recorded after that, and is not one from before that is
   * only answered now.
   *
   * @returns how often one's answered check had followed the other's by then
   */
  const alternationsUntilFound = (run: Run, holders: readonly [Holder, Holder]): number => {
    let alternations = 0;
    let last: Holder | null = null;
    let newest = 0;
    for (let turn = 0; turn < 200; turn += 1) {
      const holder = holders[run.chance() < 0.5 ? 0 : 1];
      const answered = run.check(holder);
      if (run.plane.signals.length > 0) return alternations + (last !== null && last !== holder ? 1 : 0);
      if (!answered || run.place < newest) continue;
      newest = run.place;
      if (last !== null && last !== holder) alternations += 1;
      last = holder;
    }
    return Infinity;
  };

  it.each<[string, (original: Holder, chance: () => number) => Holder]>([
    ['a disk, while the original runs on', (original) => original.copyOfDisk()],
    [
      'a disk, and the original starts anew as well',
      (original) => {
        const copy = original.copyOfDisk();
        original.restart();
        return copy;
      },
    ],
    ['a disk at rest', (original) => original.copyAtRest()],
    ['a running machine with its memory', (original) => original.copyOfMemory()],
  ])('finds every copy of %s within three alternations (B2, C01)', (_what, copyOf) => {
    const missed = seeds(COPIES).filter((seed) => {
      const { run, holder } = honest(seed, 4);
      while (!run.check(holder));
      return alternationsUntilFound(run, [holder, copyOf(holder, run.chance)]) > 3;
    });
    expect(missed).toEqual([]);
  });
});

it('signals once an hour for as long as two holders go on, and not any more when one of them has a later generation (B2, C01)', () => {
  const run = new Run(7);
  const original = new Holder(run.chance);
  while (!run.check(original));
  const copy = original.copyOfDisk();
  const begun = run.plane.now;
  for (; run.plane.now < begun + 5 * 3_600_000; run.check(copy)) run.check(original);
  const { signals } = run.plane;
  expect(signals).toHaveLength(5);
  const between = signals.slice(1).map((at, index) => at - (signals[index] ?? 0));
  expect(between.filter((milliseconds) => milliseconds < 3_600_000)).toEqual([]);
  expect(run.plane.state.copies).not.toBeNull();

  original.rotate(run.plane);
  while (!run.check(original));
  expect(run.plane.state.copies).toBeNull();
  for (let turn = 0; turn < 500; turn += 1) {
    run.check(original);
    expect(run.check(copy)).toBe(false);
  }
  expect(signals).toHaveLength(5);
  expect(() => copy.rotate(run.plane)).toThrow('generation-behind');
});
