import type { Cancel, SessionClock } from './session-clock.js';

/** How long it may take until a host has let us in, in milliseconds, the bastion included; what a person is asked is not in it. */
const DIAL_LIMIT_MS = 30_000;
/** How long a person may take whom their ssh-agent asks, in milliseconds: an SSH server waits for as long by default. */
const PERSON_LIMIT_MS = 120_000;

/** The time of one dial. It stands still while a person may be asked something, which has a limit of its own. */
export class DialLimit {
  readonly #late = new AbortController();
  #left = DIAL_LIMIT_MS;
  #since = 0;
  #isOver = false;
  #cancel: Cancel = () => undefined;

  /** Starts at once. */
  constructor(readonly clock: SessionClock) {
    this.#goOn();
  }

  /** Aborted when the time is over; the reason is an error for a person. */
  get signal(): AbortSignal {
    return this.#late.signal;
  }

  /** Stops the time of the hosts; what it returns lets it go on. */
  askPerson(): () => void {
    this.#left -= this.clock.now() - this.#since;
    this.#arm(PERSON_LIMIT_MS, `The ssh-agent did not sign within ${PERSON_LIMIT_MS / 1_000} s`);
    return () => this.#goOn();
  }

  /** For good, whoever still waits. */
  end(): void {
    this.#isOver = true;
    this.#cancel();
  }

  #goOn(): void {
    this.#since = this.clock.now();
    this.#arm(this.#left, `The host did not let us in within ${DIAL_LIMIT_MS / 1_000} s`);
  }

  #arm(ms: number, sentence: string): void {
    this.#cancel();
    if (!this.#isOver) this.#cancel = this.clock.after(ms, () => this.#late.abort(new Error(sentence)));
  }
}
