import { Probe } from '../probes/probe.js';

/** A probe that a test answers for, and that counts how it is asked. */
export class ScriptedProbe extends Probe {
  override readonly codes: readonly string[];
  /** How often it was asked to look. */
  looks = 0;
  /** Looks that have not come back. */
  underWay = 0;
  signal: AbortSignal | null = null;
  answer: () => Promise<readonly string[]> = () => Promise.resolve([]);

  constructor(...codes: readonly string[]) {
    super();
    this.codes = codes;
  }

  /** From now on it finds these. */
  finds(...codes: readonly string[]): void {
    this.answer = () => Promise.resolve(codes);
  }

  /** From now on it does not answer, until the returned function is called. */
  hangs(): () => void {
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    this.answer = () => promise;
    return () => resolve([]);
  }

  override async probe(signal: AbortSignal): Promise<readonly string[]> {
    this.looks += 1;
    this.underWay += 1;
    this.signal = signal;
    try {
      return await this.answer();
    } finally {
      this.underWay -= 1;
    }
  }
}
