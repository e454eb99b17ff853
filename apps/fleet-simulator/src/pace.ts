/** A check that could not begin this many milliseconds after its time is given up: nobody sends in one moment what a minute had asked for. */
const GIVEN_UP_AFTER = 1_000;

/** Spreads a rate evenly over time, whatever answers take: an open load, as of machines that know nothing of each other. */
export class Pace {
  #handedOut = 0;
  #missed = 0;

  /** @param rate per second @param start milliseconds of the clock that `next` is told */
  constructor(
    private readonly rate: number,
    private readonly start: number,
  ) {}

  /** How many could not begin near their time. */
  get missed(): number {
    return this.#missed;
  }

  /** When the next one is due, on the clock of `now`. */
  next(now: number): number {
    for (;;) {
      const due = this.start + (this.#handedOut * 1_000) / this.rate;
      this.#handedOut += 1;
      if (now - due <= GIVEN_UP_AFTER) return due;
      this.#missed += 1;
    }
  }

  /** The one that was handed out last found nobody to do it. */
  miss(): void {
    this.#missed += 1;
  }
}
