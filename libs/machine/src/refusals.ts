import { instantOf, timestampOf, type Decider, type Instant } from '@rollcall/decider';
import type { NoteRefusal } from './commands.js';
import type { Credential } from './credential.js';
import type { CredentialRefused } from './facts.js';

/** When a refusal was recorded last (RFC 3339), by its reason and the generation that was presented, of the last hour. */
export type Refusals = { readonly [what: string]: string };

/** Whoever goes on with a dead credential, at whatever rate, makes no more than one event in this time. */
const APART_MS = 3_600_000;

/** Those that are too old for the head to know are one: there can be any number of them. */
const whatOf = ({ code, generation }: Pick<NoteRefusal, 'code' | 'generation'>): string =>
  `${code} ${generation ?? OLDER}`;
const OLDER = 'older';

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

/** The newest use of a generation that a later one has cut; null: of one that is too old for the head to know. */
export type OlderUse = { readonly generation: number | null; readonly at: Instant };

/**
 * An older credential than the one that counts is in somebody's hands: its newest refused use since that one was registered, or null. Nothing
 * proves that of two copies the right one has rotated, so this is how a person sees that it may have been the other (B2).
 */
export const olderUse = (used: Refusals, { status, current }: Credential): OlderUse | null => {
  if (status !== 'live' || current === null) return null;
  const since = current.registeredAt === undefined ? 0 : instantOf(current.registeredAt);
  const uses = Object.entries(used).flatMap(([what, at]) => {
    const [code, which] = what.split(' ');
    const generation = which === OLDER ? null : Number(which);
    const isOlder = code === 'generation-behind' && (generation === null || generation < current.generation);
    return isOlder && instantOf(at) >= since ? [{ generation, at: instantOf(at) }] : [];
  });
  return uses.sort((one, other) => other.at - one.at)[0] ?? null;
};
