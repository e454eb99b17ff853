import { instantOf, timestampOf, type Decider } from '@rollcall/decider';
import type { NoteRefusal } from './commands.js';
import type { CredentialRefused } from './facts.js';

/** When a refusal was recorded last (RFC 3339), by its reason and the generation that was presented, of the last hour. */
export type Refusals = { readonly [what: string]: string };

/** Whoever goes on with a dead credential, at whatever rate, makes no more than one event in this time. */
const APART_MS = 3_600_000;

/** Those that are too old for the head to know are one: there can be any number of them. */
const whatOf = ({ code, generation }: Pick<NoteRefusal, 'code' | 'generation'>): string =>
  `${code} ${generation ?? 'older'}`;

/**
 * The first use of a credential that does not act any more is recorded, and of those that follow at most one an hour for each reason and
 * generation (B7). So neither refusals from before a deletion nor those of an older generation hide the first use after it.
 */
export const refusals: Decider<Refusals, NoteRefusal, CredentialRefused> = {
  // 1 knew reasons alone.
  fold: 2,

  initial: () => ({}),

  decide(state, { machine, code, generation, keyHash, lastAcceptedAt }, { now }) {
    const newest = state[whatOf({ code, generation })];
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

  evolve: (state, fact) => {
    if (fact.type !== 'CredentialRefused') return state;
    const since = instantOf(fact.refusedAt) - APART_MS;
    const recent = Object.entries(state).filter(([, at]) => instantOf(at) > since);
    return { ...Object.fromEntries(recent), [whatOf(fact)]: fact.refusedAt };
  },
};
