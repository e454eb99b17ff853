import { Refusal, type Rules } from '@rollcall/decider';
import type { SetLabels } from './commands.js';
import type { LabelsChanged, MachineFact } from './facts.js';

/** What a person has attached to a node, by key. */
export type Labels = { readonly [key: string]: string };

/** The most labels of one node. */
export const MOST_LABELS = 32;

/** Labels are changed one by one and recorded as a whole, sorted by key, when the whole differs. */
export const labels: Rules<Labels, SetLabels, MachineFact> = {
  initial: () => ({}),

  decide(state, { set, remove }): readonly LabelsChanged[] {
    const kept = Object.entries(state).filter(([key]) => !remove.includes(key) && !Object.hasOwn(set, key));
    const all = [...kept, ...Object.entries(set)].sort(([one], [other]) => (one < other ? -1 : 1));
    if (all.length > MOST_LABELS) throw new Refusal('too-many-labels', { most: MOST_LABELS });
    const same =
      all.length === Object.keys(state).length &&
      all.every(([key, value]) => Object.hasOwn(state, key) && state[key] === value);
    return same ? [] : [{ type: 'LabelsChanged', labels: Object.fromEntries(all) }];
  },

  evolve(state, fact) {
    return fact.type === 'LabelsChanged' ? fact.labels : state;
  },
};
