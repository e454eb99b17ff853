import { expect } from '@jest/globals';
import type { Json, Moment, Rules, Typed } from '../decider.js';
import { Refusal } from '../refusal.js';

/** When a test does not say when. */
const SOME_MOMENT: Moment = { now: Date.UTC(2026, 0, 1, 12), lastCheckAt: null };

type Outcome<Fact> = { readonly facts: readonly Fact[] } | { readonly refused: string; readonly details: Json };

/** What a command is expected to come to. Each fails the test with a diff. */
export interface Expectation<State, Fact> {
  /** Exactly these facts, in this order. */
  then(...facts: Fact[]): void;
  /** It was done already. */
  thenNothing(): void;
  /** A refusal with this code; with exactly these details where they are given. */
  thenRefused(code: string, details?: { readonly [key: string]: Json }): void;
  /** The state after the decided facts contains these fields. */
  thenState(part: { readonly [Key in keyof State]?: unknown }): void;
}

/**
 * Given, when, then for rules: `given(...facts).when(command).then(...facts)`. The past is always facts, and every decision is
 * taken on a state that went through JSON, as a head does.
 */
export const specFor =
  <State, Command extends Typed, Fact extends Typed>(rules: Rules<State, Command, Fact>) =>
  (...past: Fact[]) => ({
    when(command: Command, moment: Partial<Moment> = {}): Expectation<State, Fact> {
      const before = throughJson(past.reduce<State>((state, fact) => rules.evolve(state, fact), rules.initial()));
      const outcome = outcomeOf(() => rules.decide(before, command, { ...SOME_MOMENT, ...moment }));
      const factsOrRefusal = 'facts' in outcome ? outcome.facts : outcome;
      return {
        // oxlint-disable-next-line unicorn/no-thenable -- given, when, then is the vocabulary, and nothing awaits this
        then: (...facts) => expect(factsOrRefusal).toEqual(facts),
        thenNothing: () => expect(factsOrRefusal).toEqual([]),
        thenRefused: (code, details) =>
          details
            ? expect(outcome).toEqual({ refused: code, details })
            : expect(outcome).toEqual({ refused: code, details: expect.anything() }),
        thenState: (part) => {
          expect(outcome).toHaveProperty('facts');
          const facts = 'facts' in outcome ? outcome.facts : [];
          expect(throughJson(facts.reduce<State>((state, fact) => rules.evolve(state, fact), before))).toMatchObject(
            part,
          );
        },
      };
    },
  });

const outcomeOf = <Fact>(decide: () => readonly Fact[]): Outcome<Fact> => {
  try {
    return { facts: decide() };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.code, details: error.details };
    throw error;
  }
};

/** The state as it is read back from a head. Fails where JSON changes it. */
const throughJson = <State>(state: State): State => {
  const restored = JSON.parse(JSON.stringify(state)) as State;
  expect(restored).toStrictEqual(state);
  return restored;
};
