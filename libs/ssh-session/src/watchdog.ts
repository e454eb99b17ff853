import {
  look,
  nextLookAt,
  nextProbeAt,
  probeSent,
  replied,
  silenceOf,
  started,
  type Timing,
  type Watch,
} from '@rollcall/transport-watchdog';
import type { Link } from './ports.js';
import type { Cancel, SessionClock } from './session-clock.js';

/** What made a watchdog give its link up. */
export type WatchdogCause = 'silence' | 'probe-failed' | 'link-ended';

/** A loss as its watchdog saw it: the silence is that of the verdict, in milliseconds. */
export type Verdict = { readonly cause: WatchdogCause; readonly silence: number };

/**
 * How many turns of the event loop the verdict waits at most for bytes that go on coming in. An answer behind 5.7 MB was read before
 * the fifth; the bound is for a far side that sends without end and never answers.
 */
const MOST_TURNS = 64;

/**
 * Probes one link and declares it lost, at most once. It knows nothing of handles: what a loss means is its owner's.
 *
 * From `stop` on, which is synchronous, it calls nobody. A probe that was under way then settles when the link is closed.
 */
export class Watchdog {
  #watch: Watch;
  #over = false;
  #probe: Promise<void> = Promise.resolve();
  #cancelProbe: Cancel = () => undefined;
  #cancelLook: Cancel = () => undefined;
  #forgetLink: () => void = () => undefined;

  /** Starts at once. */
  constructor(
    private readonly link: Link,
    timing: Timing,
    private readonly clock: SessionClock,
    private readonly declareLost: (verdict: Verdict) => void,
  ) {
    this.#watch = started(timing, clock.now());
    this.#armProbe();
    this.#armLook();
    this.#forgetLink = link.onEnd(() => this.#lose('link-ended'));
  }

  /** What is known of the link. */
  get watch(): Watch {
    return this.#watch;
  }

  /** Settles with the newest probe, never with an error. */
  get probe(): Promise<void> {
    return this.#probe;
  }

  stop(): void {
    this.#over = true;
    this.#cancelProbe();
    this.#cancelLook();
    this.#forgetLink();
  }

  #armProbe(): void {
    const due = nextProbeAt(this.#watch);
    if (due !== null) this.#cancelProbe = this.clock.after(due - this.clock.now(), () => this.#sendProbe(due));
  }

  #sendProbe(due: number): void {
    const now = this.clock.now();
    // A timer can come before its time.
    if (now < due) return this.#armProbe();
    this.#watch = probeSent(this.#watch, now);
    this.#probe = this.link.probe().then(
      () => this.#takeReply(),
      () => this.#lose('probe-failed'),
    );
  }

  #takeReply(): void {
    if (this.#over) return;
    this.#watch = replied(this.#watch, this.clock.now());
    this.#armProbe();
  }

  #armLook(): void {
    this.#cancelLook = this.clock.after(nextLookAt(this.#watch) - this.clock.now(), () => this.#look(0, -1));
  }

  /**
   * Judges after what has arrived was taken in: a timer that is overdue runs before an answer that lies in the socket, and while bytes come
   * with every turn the answer may be behind them (T-1.3).
   */
  #look(turns: number, bytesBefore: number): void {
    const bytes = this.link.bytesRead;
    if (bytes > bytesBefore && turns < MOST_TURNS) {
      this.#cancelLook = this.clock.afterIo(() => this.#look(turns + 1, bytes));
    } else if (look(this.#watch, this.clock.now()).verdict === 'lost') {
      this.#lose('silence');
    } else {
      this.#armLook();
    }
  }

  #lose(cause: WatchdogCause): void {
    if (this.#over) return;
    const silence = silenceOf(this.#watch, this.clock.now());
    this.stop();
    this.declareLost({ cause, silence });
  }
}
