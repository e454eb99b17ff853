import { Refusal, type Decider } from '@rollcall/decider';
import type { CheckedIn } from '@rollcall/machine';

/** Small rules for the contract suite: a tally that counts, holds a key, hears checks, and can be closed. */
export type Tally = {
  readonly total: number;
  readonly closed: boolean;
  readonly checks: number;
  readonly newestCheck: string | null;
};

export type TallyCommand =
  | { readonly type: 'Add'; readonly amount: number; readonly text?: string }
  /** Refuses unless the total is still what the caller saw. */
  | { readonly type: 'AddIfTotal'; readonly total: number; readonly amount: number }
  | { readonly type: 'Hold'; readonly key: string }
  | { readonly type: 'Free'; readonly key: string }
  | { readonly type: 'Hear'; readonly check: CheckedIn }
  | { readonly type: 'Close' }
  /** Finds itself already done. */
  | { readonly type: 'Nothing' };

export type TallyFact =
  | { readonly type: 'Added'; readonly amount: number; readonly text: string }
  | { readonly type: 'Held'; readonly key: string }
  | { readonly type: 'Freed'; readonly key: string }
  | { readonly type: 'Closed' }
  | CheckedIn;

export const tally: Decider<Tally, TallyCommand, TallyFact> = {
  fold: 1,
  initial: () => ({ total: 0, closed: false, checks: 0, newestCheck: null }),
  decide: (state, command) => {
    if (state.closed) throw new Refusal('credential-revoked');
    switch (command.type) {
      case 'Add':
        return [{ type: 'Added', amount: command.amount, text: command.text ?? '' }];
      case 'AddIfTotal':
        if (state.total !== command.total) throw new Refusal('stale-check', { total: state.total });
        return [{ type: 'Added', amount: command.amount, text: '' }];
      case 'Hold':
        return [{ type: 'Held', key: command.key }];
      case 'Free':
        return [{ type: 'Freed', key: command.key }];
      case 'Hear':
        return state.newestCheck === command.check.checkId ? [] : [command.check];
      case 'Close':
        return [{ type: 'Closed' }];
      case 'Nothing':
        return [];
    }
  },
  evolve: (state, fact) => {
    switch (fact.type) {
      case 'Added':
        return { ...state, total: state.total + fact.amount };
      case 'Closed':
        return { ...state, closed: true };
      case 'CheckedIn':
        return { ...state, checks: state.checks + 1, newestCheck: fact.checkId };
      case 'Held':
      case 'Freed':
        return state;
    }
  },
  claims: (fact) => {
    if (fact.type === 'Held') return [{ op: 'take', key: fact.key }];
    if (fact.type === 'Freed') return [{ op: 'release', key: fact.key }];
    return [];
  },
};

/** A check of the machine that a stream is about. */
export const checkOf = (stream: string, sequence: number, checkId: string = crypto.randomUUID()): CheckedIn => ({
  type: 'CheckedIn',
  machine: stream.slice('machine-'.length),
  generation: 1,
  boot: { counter: 1, id: 'f00dcafe' },
  sequence,
  checkId,
  said: 'running',
  reason: null,
  interval: 30,
  window: 120,
});
