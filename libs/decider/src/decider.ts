/** A point on the record's clock: milliseconds since the Unix epoch, as the record counts them. Never a machine's clock. */
export type Instant = number;

/** A JSON value without floats: numbers are integers below 2^53 (`event.body` is canonical JSON, RFC 8785). */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** When a decision is taken, as the record saw it when the head was read. */
export type Moment = {
  /** Never before the newest batch, and never after the batch that records the decision. */
  readonly now: Instant;
  /** When the stream's last check-in was recorded; null for a stream without one. */
  readonly lastCheckAt: Instant | null;
};

/** Everything that is decided or recorded has a literal type; the rest of the fields are its body. */
export type Typed = { readonly type: string };

/**
 * A key that a fact takes or gives back. Keys are unique over all streams and are compared in the commit that records the fact:
 * `take` fails the decision when another stream holds the key, `release` makes a key of this stream free again.
 */
export type ClaimChange = { readonly op: 'take' | 'release'; readonly key: string };

/**
 * One group of rules: `decide` says what happens (or throws a `Refusal`), `evolve` says what that means, and neither knows a
 * clock, a database or a network. A stream's decider is composed of several.
 */
export interface Rules<State, Command extends Typed, Fact extends Typed> {
  /** The state before anything happened. */
  initial(): State;
  /** The facts that follow from a command; `[]` when it is done already. Throws `Refusal`. */
  decide(state: State, command: Command, moment: Moment): readonly Fact[];
  /** The state after a fact. Must not throw on a fact of an unknown type: what is recorded is a fact. */
  evolve(state: State, fact: Fact): State;
}

/** The rules of one whole stream. */
export interface Decider<State, Command extends Typed, Fact extends Typed> extends Rules<State, Command, Fact> {
  /** The unique keys that a fact takes or releases. */
  claims?(fact: Fact): readonly ClaimChange[];
  /** Raised whenever `State` or `evolve` change shape: heads that were folded with another number are folded anew. */
  readonly fold: number;
}
