import type { Json } from '@rollcall/decider';
import { Attempts, type AttemptRule } from '../attempts.js';

/** Attempts of one process, on a clock that a test may own. (Default: that of the process) */
export class InMemoryAttempts extends Attempts {
  private readonly memories = new Map<string, Json>();

  constructor(private readonly now: () => number = Date.now) {
    super();
  }

  override count<Memory extends Json, Answer>(key: string, rule: AttemptRule<Memory, Answer>): Promise<Answer> {
    const { memory, answer } = rule((this.memories.get(key) ?? null) as Memory | null, this.now());
    this.memories.set(key, memory);
    return Promise.resolve(answer);
  }
}
