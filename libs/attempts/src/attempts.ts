import type { Instant, Json } from '@rollcall/decider';

/** What a rule makes of what was tried before: what is remembered of it now, and what follows for whoever tries. */
export type Verdict<Memory extends Json, Answer> = { readonly memory: Memory; readonly answer: Answer };

/**
 * A rule about how often something may be tried. Asked again where somebody else tried at the same moment.
 *
 * @param memory null where nothing is remembered
 * @param now of the one clock of all instances, in milliseconds since 1970
 */
export type AttemptRule<Memory extends Json, Answer> = (memory: Memory | null, now: Instant) => Verdict<Memory, Answer>;

/**
 * What was tried how often, counted for all instances together (U9). No part of the record: what is not tried for an hour is forgotten. A
 * type and a Nest token in one.
 */
export abstract class Attempts {
  /**
   * Counts one more, by a rule that belongs to this kind of key. Of any number at the same moment each is counted on top of the others.
   *
   * @param key what is counted; holds no secret
   */
  abstract count<Memory extends Json, Answer>(key: string, rule: AttemptRule<Memory, Answer>): Promise<Answer>;
}
