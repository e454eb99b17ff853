import { DeadlineExceeded, withDeadline, type Clock } from '@rollcall/lifetimes';
import { Readiness, type Findings } from '../check/readiness.js';
import type { Probe } from './probe.js';

/** From one look of a probe to its next, in milliseconds. */
export const PROBE_EVERY = 60_000;
/** What does not answer within this many milliseconds is not probed. */
const PROBE_DEADLINE = 5_000;

/** What the probes need from outside. */
export type ProbedReadinessOptions = {
  readonly clock: Clock;
  readonly probes: readonly Probe[];
  /** Milliseconds. (Default: 60,000) */
  readonly every?: number;
};

/**
 * Readiness out of probes, each of which has a turn and a deadline of its own: one that hangs holds up neither another one nor a check
 * (O13), and what it would have found is "not probed", never "fine" (O25).
 */
export class ProbedReadiness extends Readiness {
  readonly #clock: Clock;
  readonly #probes: readonly Probe[];
  readonly #every: number;
  readonly #listeners = new Set<() => void>();
  /** The newest outcome of each probe. */
  readonly #outcomes = new Map<Probe, Findings>();
  /** Looks that were begun and have not come back, also long after their deadline. */
  readonly #underWay = new Set<Probe>();
  #findings: Findings | null = null;

  constructor({ clock, probes, every = PROBE_EVERY }: ProbedReadinessOptions) {
    super();
    this.#clock = clock;
    this.#probes = probes;
    this.#every = every;
  }

  /** null until every probe has had its first turn. */
  override current(): Findings | null {
    return this.#findings;
  }

  override onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Probes until the signal. Returns at once then, also when a look does not come back. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#probes.map((probe) => this.#watch(probe, signal)));
  }

  async #watch(probe: Probe, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const early = new AbortController();
      const stopListening = probe.onLookAgain(() => early.abort());
      const nextTurn = this.#clock.sleep(this.#every, AbortSignal.any([signal, early.signal]));
      // A look that hangs holds a thread of ours: it never gets a second one, and what was noted about it still holds.
      if (!this.#underWay.has(probe)) {
        const outcome = await this.#look(probe, signal);
        if (!signal.aborted) this.#note(probe, outcome);
      }
      await nextTurn;
      stopListening();
    }
  }

  /** One look. Never rejects: not to know is an outcome. */
  async #look(probe: Probe, signal: AbortSignal): Promise<Findings> {
    try {
      const blockers = await withDeadline(
        this.#clock,
        PROBE_DEADLINE,
        (over) => Promise.race([this.#begin(probe, over), whenAborted(over)]),
        signal,
      );
      return { blockers, notProbed: [] };
    } catch (error) {
      const isLate = error instanceof DeadlineExceeded;
      const why = isLate ? `no answer within ${PROBE_DEADLINE / 1_000} s` : (error as Error).message;
      return { blockers: [], notProbed: probe.codes.map((code) => ({ code, why })) };
    }
  }

  async #begin(probe: Probe, over: AbortSignal): Promise<readonly string[]> {
    this.#underWay.add(probe);
    try {
      return await probe.probe(over);
    } finally {
      this.#underWay.delete(probe);
    }
  }

  #note(probe: Probe, outcome: Findings): void {
    this.#outcomes.set(probe, outcome);
    if (this.#outcomes.size < this.#probes.length) return;
    const before = this.#findings;
    const findings = together([...this.#outcomes.values()]);
    this.#findings = findings;
    if (before === null || codesOf(before) !== codesOf(findings)) for (const listener of this.#listeners) listener();
  }
}

/** Rejects when the signal is aborted, for work that does not listen. */
const whenAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

const together = (outcomes: readonly Findings[]): Findings => ({
  blockers: outcomes.flatMap(({ blockers }) => blockers).sort(),
  notProbed: outcomes.flatMap(({ notProbed }) => notProbed).sort((a, b) => (a.code < b.code ? -1 : 1)),
});

/** What the plane is told, for comparing. */
const codesOf = ({ blockers, notProbed }: Findings): string =>
  JSON.stringify([blockers, notProbed.map(({ code }) => code)]);
