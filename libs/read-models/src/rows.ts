/**
 * Rows by their key, as a projection sees them: it reads what is there and puts what should be there. In memory this is all
 * there is; on Postgres the rows that a transaction touches are loaded first and the changed ones written at its end.
 */
export interface Rows<Row> {
  get(key: string): Row | undefined;
  put(key: string, row: Row): void;
}

/** Rows that were loaded for one transaction, and which of them it changed. */
export class StagedRows<Row> implements Rows<Row> {
  readonly #rows = new Map<string, Row>();
  readonly #changed = new Map<string, Row>();

  /** @param loaded what the tables hold, by key */
  constructor(loaded: Iterable<readonly [string, Row]> = []) {
    for (const [key, row] of loaded) this.#rows.set(key, row);
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  put(key: string, row: Row): void {
    this.#rows.set(key, row);
    this.#changed.set(key, row);
  }

  /** What has to be written. */
  changed(): readonly Row[] {
    return [...this.#changed.values()];
  }
}
