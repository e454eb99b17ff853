import { Refusal, type Decider } from '@rollcall/decider';
import type { PromiseEvent } from './facts.js';

/** The schedules that a person has promised, by selector. */
export type Promises = { readonly [selector: string]: string };

/** A person promises something, or something else than before. */
export type MakePromise = { readonly type: 'MakePromise'; readonly selector: string; readonly schedule: string };
/** A person takes a promise back. */
export type WithdrawPromise = { readonly type: 'WithdrawPromise'; readonly selector: string };

/** The most promises of one person. */
export const MOST_PROMISES = 500;

/** One promise per selector, of which the newest word counts; what is said already is not said again. */
export const promiseBook: Decider<Promises, MakePromise | WithdrawPromise, PromiseEvent> = {
  fold: 1,

  initial: () => ({}),

  decide(state, command) {
    const { selector } = command;
    const before = Object.hasOwn(state, selector) ? state[selector] : undefined;
    switch (command.type) {
      case 'MakePromise':
        if (before === command.schedule) return [];
        if (before === undefined && Object.keys(state).length >= MOST_PROMISES)
          throw new Refusal('too-many-promises', { most: MOST_PROMISES });
        return [{ type: 'PromiseMade', selector, schedule: command.schedule }];
      case 'WithdrawPromise':
        return before === undefined ? [] : [{ type: 'PromiseWithdrawn', selector }];
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'PromiseMade':
        return { ...state, [fact.selector]: fact.schedule };
      case 'PromiseWithdrawn':
        return Object.fromEntries(Object.entries(state).filter(([selector]) => selector !== fact.selector));
      default:
        return state;
    }
  },
};

const CATEGORY = 'promises-';

/** The stream of a person's promises. */
export const promisesStream = (person: string): string => `${CATEGORY}${person}`;
/** The id of the person whose promises a stream holds; null for streams of other categories. */
export const promiserOf = (stream: string): string | null =>
  stream.startsWith(CATEGORY) ? stream.slice(CATEGORY.length) : null;

/** The selector of a node. */
export const nodeSelector = (node: string): string => `node:${node}`;
/** The node that a selector is of; null for a label's. */
export const nodeOf = (selector: string): string | null =>
  selector.startsWith('node:') ? selector.slice('node:'.length) : null;
/** The selector of all nodes with a label. */
export const labelSelector = (key: string, value: string): string => `label:${key}=${value}`;

/** What is promised of one node. */
export type NodePromise = {
  /** The promises that count: the node's own one, or those of its labels. */
  readonly selectors: readonly string[];
  /** Presence is promised where any of them promises it. */
  readonly schedules: readonly string[];
};

/**
 * What is promised of a node with these labels: its own promise where it has one, also where that promises nothing; else the promises of
 * all its labels together; null where nobody promised anything.
 */
export const promiseOf = (
  node: string,
  labels: { readonly [key: string]: string },
  promises: Promises,
): NodePromise | null => {
  const own = nodeSelector(node);
  const selectors = Object.hasOwn(promises, own)
    ? [own]
    : Object.entries(labels)
        .map(([key, value]) => labelSelector(key, value))
        .filter((selector) => Object.hasOwn(promises, selector));
  return selectors.length === 0 ? null : { selectors, schedules: selectors.map((selector) => promises[selector]!) };
};
