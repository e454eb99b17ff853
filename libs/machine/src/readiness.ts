import type { Rules } from '@rollcall/decider';
import { blockerOf } from './blockers.js';
import type { AcceptCheck } from './commands.js';
import type { BlockersChanged, MachineFact, StopReason } from './facts.js';
import type { Lifecycle } from './lifecycle.js';
import type { Presence } from './presence.js';

/** The code that only a person's word raises and clears. */
export const PAUSED = 'operator-paused';

/** The code that only the chain of check answers raises, and a later generation clears (B2). */
export const DUPLICATE = 'duplicate-installation';

/** Whether the plane's own record raises and clears a code: a machine that sends it has said nothing. */
export const isPlanesWord = (code: string): boolean => code === PAUSED || code === DUPLICATE;

/** Sorted codes, each once. */
export type Blockers = readonly string[];

/**
 * What keeps a machine from taking work is stored as it last said. "Not probed" says nothing, about all codes or about those that it names:
 * what is stored about them stays, so a probe that hangs neither raises a blocker nor clears one (O25).
 */
export const readiness: Rules<Blockers, AcceptCheck, MachineFact> = {
  initial: () => [],

  decide(state, { blockers, notProbed }): readonly BlockersChanged[] {
    if (blockers === null) return [];
    const kept = state.filter((code) => notProbed.includes(code));
    const said = [...new Set([...blockers, ...kept])].filter((code) => !isPlanesWord(code)).sort();
    const same = said.length === state.length && said.every((code, index) => code === state[index]);
    return same ? [] : [{ type: 'BlockersChanged', blockers: said }];
  },

  evolve(state, fact) {
    return fact.type === 'BlockersChanged' ? fact.blockers : state;
  },
};

/** The three independent answers about a machine. */
export type Condition = {
  readonly presence: Presence;
  readonly lifecycle: Lifecycle | null;
  readonly stopReason: StopReason | null;
  readonly blockers: readonly string[];
};

/** The three answers in one sentence for a person, for example "present, but cannot take work: the disk is full (disk-full)" (O32). */
export const readinessSentence = ({ presence, lifecycle, stopReason, blockers }: Condition): string => {
  const reason = stopReason ? ` (${stopReason})` : '';
  if (lifecycle === 'deleted') return 'deleted: its credential never acts again';
  if (presence === 'not-yet-arrived') return 'admitted, but has not checked in yet';
  if (lifecycle === 'stopped') return `stopped on purpose${reason}`;
  if (presence === 'absent') return 'absent, last said it was running';
  if (lifecycle === 'stopping') return `present, about to stop${reason}`;
  return presentSentence(blockers);
};

const presentSentence = (codes: readonly string[]): string => {
  const blockers = codes.map((code) => blockerOf(code));
  const blocking = blockers.filter(({ blocksWork }) => blocksWork);
  const remarks = blockers.filter(({ blocksWork }) => !blocksWork);
  const state = blocking.length > 0 ? `present, but cannot take work: ${listed(blocking)}` : 'present';
  return remarks.length > 0 ? `${state}; note: ${listed(remarks)}` : state;
};

const listed = (blockers: readonly { readonly sentence: string; readonly code: string }[]): string =>
  blockers.map(({ sentence, code }) => `${sentence} (${code})`).join(', ');
