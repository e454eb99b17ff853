import { createHistogram } from 'node:perf_hooks';
import { LIFE, type LifeEvent } from './simulated-machine.js';

/** What a run came to. */
export type FleetReport = {
  /** What the lives of the machines follow from. */
  readonly seed: number;
  readonly machines: number;
  /** How long new checks were begun. */
  readonly seconds: number;
  readonly accepted: number;
  readonly acceptedPerSecond: number;
  /** Checks that could not begin within a second of their time, because too many were under way or no machine was free. */
  readonly missed: number;
  /** All that came back, by what it was. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Of accepted checks, in milliseconds, from the moment that each was due to the last byte of its answer. */
  readonly latency: { readonly p50: number; readonly p99: number; readonly max: number };
  /** The longest time in the run without an accepted answer to anybody, its beginning and its end included. Milliseconds. */
  readonly longestPause: number;
  /** What happened in the lives of the machines. */
  readonly life: Readonly<Record<LifeEvent, number>>;
};

/** Counts what comes back in one run. Times are milliseconds of one monotonic clock. */
export class Tally {
  // Of a bounded size, whatever the number of values, and exact to a thousandth; it takes whole numbers only, so microseconds.
  readonly #latencies = createHistogram();
  readonly #outcomes = new Map<string, number>();
  readonly #life = new Map<LifeEvent, number>(LIFE.map((event) => [event, 0]));
  #lastAccepted: number;
  #longestPause = 0;
  #ended: number | null = null;

  constructor(private readonly start: number) {
    this.#lastAccepted = start;
  }

  happened(event: LifeEvent): void {
    this.#life.set(event, (this.#life.get(event) ?? 0) + 1);
  }

  count(what: string): void {
    this.#outcomes.set(what, (this.#outcomes.get(what) ?? 0) + 1);
  }

  /** A check was accepted that had been due then. */
  accepted(due: number, now: number): void {
    this.#latencies.record(Math.max(1, Math.round((now - due) * 1_000)));
    // What comes in after the end was under way; it neither makes a pause nor ends one.
    if (this.#ended === null) this.#pauseUntil(now);
  }

  /** No more checks are begun from now on. */
  end(now: number): void {
    this.#pauseUntil(now);
    this.#ended = now;
  }

  report(run: { readonly seed: number; readonly machines: number; readonly missed: number }): FleetReport {
    const seconds = ((this.#ended ?? this.start) - this.start) / 1_000;
    const accepted = this.#outcomes.get('accepted') ?? 0;
    const milliseconds = (microseconds: number) => (accepted === 0 ? 0 : microseconds / 1_000);
    return {
      ...run,
      seconds,
      accepted,
      acceptedPerSecond: seconds === 0 ? 0 : accepted / seconds,
      outcomes: Object.fromEntries(this.#outcomes),
      latency: {
        p50: milliseconds(this.#latencies.percentile(50)),
        p99: milliseconds(this.#latencies.percentile(99)),
        max: milliseconds(this.#latencies.max),
      },
      longestPause: this.#longestPause,
      life: Object.fromEntries(this.#life) as Record<LifeEvent, number>,
    };
  }

  #pauseUntil(now: number): void {
    this.#longestPause = Math.max(this.#longestPause, now - this.#lastAccepted);
    this.#lastAccepted = now;
  }
}
