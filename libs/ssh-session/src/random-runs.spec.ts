import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SshSessionError } from './index.js';
import { afterMicrotasks, Bench, FakeLink, SUCCESS, type Closing, type CommandAnswer } from './testing/index.js';

/** Put here what a failed run prints, to run that one alone: `{ seed, path, endOnFailure: true }`. */
const REPLAY: { readonly seed?: number; readonly path?: string; readonly endOnFailure?: true } = {};

const IDS = ['one', 'two'];

/** What one step is made of; each deed takes what it needs. */
const STEP = {
  id: fc.constantFrom(...IDS),
  /** Which link, counted back from the newest. */
  back: fc.nat(2),
  ms: fc.constantFrom(1, 999, 14_999, 15_000, 15_001, 30_000, 45_000, 45_001),
  answer: fc.constantFrom<CommandAnswer>(SUCCESS, SUCCESS, { ...SUCCESS, code: 1 }, 'silence', new Error('refused')),
  closing: fc.constantFrom<Closing>('ends', 'ends', 'ends', 'rejects', 'throws', 'hangs'),
  /** After how many microtasks the next step follows. */
  pause: fc.nat(12),
};
type Step = {
  readonly [Name in keyof typeof STEP]: (typeof STEP)[Name] extends fc.Arbitrary<infer Value> ? Value : never;
};

/** A session host, its callers, and a far side that does what a network can do. */
class World {
  readonly bench = new Bench();
  readonly outcomes: Promise<unknown>[] = [];
  /** Links whose loss a status told, other than by a command that ran out of time. */
  readonly seenLost = new Set<FakeLink>();
  readonly #next: Pick<FakeLink, 'closing' | 'forwardClosing' | 'probes' | 'answer' | 'refusesForward'> = {
    closing: 'ends',
    forwardClosing: 'ends',
    probes: 'answered',
    answer: () => SUCCESS,
    refusesForward: false,
  };
  #releaseDials: () => void = () => undefined;

  readonly deeds: Record<string, (step: Step) => unknown> = {
    launch: ({ id }) =>
      this.#call(this.bench.host.launch({ id, target: { host: 'far' }, near: { kind: 'tcp' }, farSocketPath: '/far' })),
    resume: ({ id }) => this.#call(this.bench.host.resume(id)),
    stop: ({ id }) => this.#call(this.bench.host.stop(id)),
    reset: ({ id }) => this.#call(this.bench.host.reset(id)),
    close: ({ ms }) => ms === 1 && this.#call(this.bench.host.close()),
    advance: ({ ms }) => this.bench.clock.advance(ms),
    standStill: ({ ms }) => this.bench.clock.standStill(ms),
    fallSilent: () => this.#far({ probes: 'waits', answer: () => 'silence' }),
    speakAgain: ({ answer }) => this.#far({ probes: 'answered', answer: () => answer }),
    answerProbe: ({ back }) => this.#link(back)?.answerProbe(),
    failProbe: ({ back }) => this.#link(back)?.failProbe(),
    answerCommands: ({ back }) => this.#link(back)?.answerCommands(),
    endLink: ({ back }) => this.#link(back)?.end(),
    receiveBytes: ({ back, ms }) => Object.assign(this.#link(back) ?? {}, { bytesRead: ms }),
    breakCloses: ({ closing, back }) =>
      Object.assign(this.#next, { closing, forwardClosing: back === 0 ? closing : 'ends' }),
    refuseForwards: ({ back }) => Object.assign(this.#next, { refusesForward: back === 2 }),
    holdDials: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#releaseDials();
      this.bench.dialsWaitFor = promise;
      this.#releaseDials = resolve;
    },
    releaseDials: () => this.#releaseDials(),
    breakDisk: ({ back }) => (this.bench.metadata.isBroken = back === 0),
  };

  constructor() {
    this.bench.prepare = (link) => Object.assign(link, this.#next);
  }

  async live(steps: readonly (Step & { readonly deed: string })[]): Promise<void> {
    for (const step of steps) {
      await this.deeds[step.deed]?.(step);
      await afterMicrotasks(step.pause);
      this.#lookAround();
    }
    this.#call(this.bench.host.close());
    this.#releaseDials();
    await this.bench.clock.advance(300_000);
  }

  #call(outcome: Promise<unknown>): void {
    this.outcomes.push(outcome.catch((error: unknown) => error));
  }

  #link(back: number): FakeLink | undefined {
    return this.bench.links.at(-1 - back);
  }

  #far(ways: Pick<FakeLink, 'probes' | 'answer'>): void {
    Object.assign(this.#next, ways);
    for (const link of this.bench.links) Object.assign(link, ways);
  }

  #lookAround(): void {
    for (const id of IDS) {
      const status = this.bench.host.status(id);
      if (status?.state !== 'disconnected' || status.error?.message.includes('command-timeout')) continue;
      for (const link of this.bench.links)
        if (link.forwards.some(({ address }) => address === status.address)) this.seenLost.add(link);
    }
  }
}

const DEEDS = Object.keys(new World().deeds);
const lives = fc.array(
  fc.record({
    deed: fc.constantFrom('launch', 'launch', 'launch', 'advance', 'advance', 'advance', ...DEEDS),
    ...STEP,
  }),
  { minLength: 10, maxLength: 60, size: 'max' },
);

it('closes every handle once, tells every loss once and leaves nothing, in 500 random lives (T-1.1, T-1.2, T-1.4, T-1.5, T-1.9, T-2.1, T-2.4, T-2.5, T-2.7, T-2.12, C28)', async () => {
  let losses = 0;
  await fc.assert(
    fc.asyncProperty(lives, async (steps) => {
      const world = new World();
      await world.live(steps);
      const { links, log, clock, host } = world.bench;

      // Everybody was answered: a report, or an error of the closed list.
      for (const outcome of await Promise.all(world.outcomes))
        if (outcome instanceof Error && !(outcome instanceof SshSessionError))
          expect(outcome.message).toBe('The near end is taken');

      for (const link of links) {
        const closes = link.journal.filter((what) => what.startsWith('close'));
        expect(closes).toEqual([...link.forwards.map(() => 'close forward'), 'close link']);
        expect(link.journal.slice(link.journal.indexOf(closes[0] ?? '')).filter((what) => what === 'probe')).toEqual(
          [],
        );
        expect(link.mostProbesAtOnce).toBeLessThanOrEqual(1);
        if (link.ended) expect([link.waiting, link.listeners]).toEqual([0, 0]);
      }
      expect([clock.pending, IDS.map((id) => host.status(id))]).toEqual([0, [null, null]]);

      const told = log.losses.map(({ remoteHost }) => remoteHost);
      expect(new Set(told).size).toBe(told.length);
      expect(told).toEqual(expect.arrayContaining([...world.seenLost].map(({ remoteHost }) => remoteHost)));
      losses += told.length;
    }),
    { numRuns: 500, ...REPLAY },
  );
  // The lives are eventful enough to mean something.
  expect(losses).toBeGreaterThan(100);
}, 30_000);
