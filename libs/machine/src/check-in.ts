import type { Rules } from '@rollcall/decider';
import { advance, type Chain, nextStep, windowAfter } from './chain.js';
import type { AcceptCheck } from './commands.js';
import type { CheckedIn, MachineFact } from './facts.js';

/** What the newest check left behind for the next one. */
export type CheckIns = {
  /** Seconds of silence after which the machine counts as absent; null before the first check. */
  readonly window: number | null;
  readonly chain: Chain;
  /** The generation that presented it; null before the first check, absent on heads that were folded before it was kept. */
  readonly generation?: number | null;
};

/** A check whose credential was accepted, with what only the other rules know about it. */
export type AuthenticatedCheck = AcceptCheck & { readonly machine: string; readonly generation: number };

/** Every accepted check is recorded, also one that says nothing new: it is the liveness. */
export const checkIn: Rules<CheckIns, AuthenticatedCheck, MachineFact> = {
  initial: () => ({ window: null, chain: null, generation: null }),

  decide(state, check): readonly CheckedIn[] {
    const { machine, generation, boot, sequence, checkId, said, reason, policy } = check;
    return [
      {
        type: 'CheckedIn',
        machine,
        generation,
        boot,
        sequence,
        checkId,
        said,
        reason: said === 'stopping' ? reason : null,
        interval: policy.interval,
        window: windowAfter(state.chain, state.window, check.chain, policy),
        chain: nextStep(state.chain, check.chain),
      },
    ];
  },

  evolve(state, fact) {
    if (fact.type !== 'CheckedIn') return state;
    return { window: fact.window, chain: advance(state.chain, fact), generation: fact.generation };
  },
};
