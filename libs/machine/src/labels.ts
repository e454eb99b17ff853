import { Refusal, type Rules } from '@rollcall/decider';
import { cleanDisplay } from './clean-display.js';
import type { SetLabels } from './commands.js';
import type { LabelsChanged, MachineFact } from './facts.js';

/** What a person has attached to a node, by key. */
export type Labels = { readonly [key: string]: string };

/** How a key is written. */
export const LABEL_KEY = /^[a-z0-9._/-]{1,63}$/;

/** The most characters (code points) of a label's value; there is at least one. */
export const LABEL_VALUE_LENGTH = 63;

/** Reads `key=value`; null where it is no label. */
export const parseLabel = (text: string): readonly [key: string, value: string] | null => {
  const equals = text.indexOf('=');
  const [key, value] = [text.slice(0, equals), text.slice(equals + 1)];
  return equals > 0 && LABEL_KEY.test(key) && isLabelValue(value) ? [key, value] : null;
};

/** Whether a text can be the value of a label: it has 1 to 63 characters, and a screen shows it as it is. */
export const isLabelValue = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && cleanDisplay(value, LABEL_VALUE_LENGTH) === value;

/** The most labels of one node. */
export const MOST_LABELS = 32;

/** Labels are changed one by one and recorded as a whole, sorted by key, when the whole differs. */
export const labels: Rules<Labels, SetLabels, MachineFact> = {
  initial: () => ({}),

  decide(state, { set, remove }): readonly LabelsChanged[] {
    const kept = Object.entries(state).filter(([key]) => !remove.includes(key) && !Object.hasOwn(set, key));
    const all = [...kept, ...Object.entries(set)].sort(([one], [other]) => (one < other ? -1 : 1));
    if (all.length > MOST_LABELS) throw new Refusal('too-many-labels', { most: MOST_LABELS });
    const same = all.length === Object.keys(state).length && all.every(([key, value]) => state[key] === value);
    return same ? [] : [{ type: 'LabelsChanged', labels: Object.fromEntries(all) }];
  },

  evolve(state, fact) {
    return fact.type === 'LabelsChanged' ? fact.labels : state;
  },
};
