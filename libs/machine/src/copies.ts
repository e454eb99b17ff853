import { instantOf, timestampOf, type Instant, type Rules } from '@rollcall/decider';
import { isNewestTwo } from './chain.js';
import type { AuthenticatedCheck, CheckIns } from './check-in.js';
import type { CredentialForked, MachineFact } from './facts.js';

/** The sign of a copy that stands; null where there is none. */
export type Copies = {
  /** When the newest signal was given (RFC 3339). */
  readonly noticedAt: string;
} | null;

/** A check, and what the checks before it left behind. */
export type CheckAfterOthers = AuthenticatedCheck & { readonly before: CheckIns };

/** Seconds between two signals about one machine, at least. */
const BETWEEN_SIGNALS = 3_600;

/**
 * A credential is in use twice when a check presents a chain token that is neither of the two newest: each holder then carries on a chain of
 * its own (B2). Nothing else about a machine takes part, no address and no hardware. The check is accepted all the same, because a machine that
 * was restored from a snapshot looks like this too; there is one signal an hour at most, and it stands until a later generation is confirmed,
 * which leaves every other holder behind, or the machine is deleted. Which holder is the right one nothing here can know, so nobody is asked for a
 * later generation meanwhile (`rotationAsked`): a person rotates at the right one.
 *
 * Unknown is no sign: no token presented, one of another epoch, a chain that was lost with its head, and the first check of a generation, whose
 * holder may have been shut out of the chain by the other one.
 */
export const copies: Rules<Copies, CheckAfterOthers, MachineFact> = {
  initial: () => null,

  decide(state, { chain: presented, generation, boot, before }, { now, lastCheckAt }): readonly CredentialForked[] {
    if (before.generation !== generation || isNewestTwo(before.chain, presented)) return [];
    // A decision on a known head may not have heard of the newest time, but the check before is in the head.
    const heard = Math.max(now, lastCheckAt ?? now);
    if (state !== null && heard < nextSignal(state)) return [];
    return [{ type: 'CredentialForked', generation, boot, noticedAt: timestampOf(heard) }];
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'CredentialForked':
        return { noticedAt: fact.noticedAt };
      case 'GenerationConfirmed':
      case 'MachineDeleted':
        return null;
      default:
        return state;
    }
  },
};

const nextSignal = ({ noticedAt }: NonNullable<Copies>): Instant => instantOf(noticedAt) + BETWEEN_SIGNALS * 1_000;
