/** How much of its own log an agent remembers, for whoever asks for it. */
export const REMEMBERED_BYTES = 262_144;

/** The last lines of a log, in memory: as many whole ones as the limit allows. No disk is asked (O13). */
export class RememberedLines {
  readonly #lines: Buffer[] = [];
  readonly #limit: number;
  #size = 0;

  /** @param limit bytes */
  constructor(limit = REMEMBERED_BYTES) {
    this.#limit = limit;
  }

  /** Takes a line with its line feed. One that is longer than the limit alone is cut. */
  add(line: string): void {
    const bytes = Buffer.from(line).subarray(0, this.#limit);
    this.#lines.push(bytes);
    this.#size += bytes.length;
    while (this.#size > this.#limit) this.#size -= this.#lines.shift()?.length ?? 0;
  }

  /** All of them, in order. */
  tail(): Buffer {
    return Buffer.concat(this.#lines);
  }
}
