import type { Rules } from '@rollcall/decider';
import type { AcceptCheck } from './commands.js';
import type { MachineFact, Said, StopAnnounced, StopReason } from './facts.js';
import type { Presence } from './presence.js';

/** What the machine said last; null before its first check, and between a start and its first word. */
export type LastWord =
  | { readonly said: 'running'; readonly reason: null }
  | { readonly said: 'stopping'; readonly reason: StopReason | null }
  | null;

/** A goodbye is announced once: on the first check that says it, and again only with another reason or after a new start (O17). */
export const lastWord: Rules<LastWord, AcceptCheck, MachineFact> = {
  initial: () => null,

  decide(state, { said, reason }): readonly StopAnnounced[] {
    if (said !== 'stopping' || reason === null) return [];
    const repeated = state?.said === 'stopping' && state.reason === reason;
    return repeated ? [] : [{ type: 'StopAnnounced', reason }];
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'AgentStarted':
        return null;
      case 'CheckedIn':
        return fact.said === 'stopping' ? { said: 'stopping', reason: fact.reason } : { said: 'running', reason: null };
      default:
        return state;
    }
  },
};

/** What a machine is doing, as far as it has told. */
export type Lifecycle = 'running' | 'unknown' | 'stopping' | 'stopped' | 'deleted';

/**
 * What it last said, and whether it has kept checking (O23). Null before the first check. `stopped` needs both the word and the
 * silence: a word about the future is not a fact, and silence alone does not tell why.
 */
export const lifecycle = ({
  said,
  presence,
  deleted,
}: {
  readonly said: Said | null;
  readonly presence: Presence;
  readonly deleted: boolean;
}): Lifecycle | null => {
  if (deleted) return 'deleted';
  if (said === null || presence === 'not-yet-arrived') return null;
  if (said === 'running') return presence === 'present' ? 'running' : 'unknown';
  return presence === 'present' ? 'stopping' : 'stopped';
};
