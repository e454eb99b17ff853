import { instantOf, timestampOf, type Decider } from '@rollcall/decider';
import type { NoteRefusal } from './commands.js';
import type { CredentialRefused, RefusedFor } from './facts.js';

/** When a refusal was recorded last (RFC 3339), by its reason. */
export type Refusals = { readonly [code in RefusedFor]?: string };

/** Whoever goes on with a dead credential, at whatever rate, makes no more than one event in this time. */
const APART_MS = 3_600_000;

/**
 * The first use of a credential that does not act any more is recorded, and of those that follow at most one an hour for each reason (B7).
 * So the first use after a deletion is never hidden by refusals from before it.
 */
export const refusals: Decider<Refusals, NoteRefusal, CredentialRefused> = {
  fold: 1,

  initial: () => ({}),

  decide(state, { machine, code, generation, keyHash, lastAcceptedAt }, { now }) {
    const newest = state[code];
    if (newest !== undefined && now - instantOf(newest) < APART_MS) return [];
    return [
      {
        type: 'CredentialRefused',
        machine,
        code,
        generation,
        keyHash,
        lastAcceptedAt: lastAcceptedAt === null ? null : timestampOf(lastAcceptedAt),
        refusedAt: timestampOf(now),
      },
    ];
  },

  evolve: (state, fact) => (fact.type === 'CredentialRefused' ? { ...state, [fact.code]: fact.refusedAt } : state),
};
