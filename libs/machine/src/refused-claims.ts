import { instantOf, timestampOf, type Rules } from '@rollcall/decider';
import type { NoteRefusedClaim } from './commands.js';
import type { ClaimRefused, MachineFact } from './facts.js';

/** When a claim on the machine's identifier was last recorded as refused; null: never. */
export type RefusedClaims = { readonly noticedAt: string } | null;

/** How long further refused claims add nothing to what is recorded. */
const QUIET_MS = 60_000;

/** A refused claim is recorded, and for a minute no other: who tries again and again is one event, not twenty (C03). */
export const refusedClaims: Rules<RefusedClaims, NoteRefusedClaim, MachineFact> = {
  initial: () => null,

  decide(state, { token, hostname }, { now }): readonly ClaimRefused[] {
    if (state !== null && now - instantOf(state.noticedAt) < QUIET_MS) return [];
    return [{ type: 'ClaimRefused', noticedAt: timestampOf(now), token, hostname }];
  },

  evolve: (state, fact) => (fact.type === 'ClaimRefused' ? { noticedAt: fact.noticedAt } : state),
};
