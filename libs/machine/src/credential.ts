import { instantOf, Refusal, timestampOf, type Instant, type Rules } from '@rollcall/decider';
import type { AcceptCheck, AdmitMachine, ReceiveLogTail, StartRotation } from './commands.js';
import type { GenerationConfirmed, GenerationRegistered, MachineFact, PendingVoided } from './facts.js';

/** One key of a machine: a number that is never used again, and the SHA-256 (hex) of the secret. */
export type Generation = {
  readonly generation: number;
  readonly keyHash: string;
  /** Absent where the record does not say it. */
  readonly registeredAt?: string;
};

/** Which keys of this machine count. A stream holds the claims of all its keys, so a retired one still finds its machine. */
export type Credential = {
  /** Each word but `live` is the end of the refusal's code (O20). */
  readonly status: 'unknown' | 'live' | 'revoked';
  /** The newest key that has succeeded once; null until the first key's first check. */
  readonly current: Generation | null;
  /** Registered, and not yet seen. */
  readonly pending: Generation | null;
  /** The one that `current` has cut; remembered so that its refused uses have a number. Absent on older heads. */
  readonly previous?: Generation | null;
  /** A voided number is never used again. */
  readonly highest: number;
};

/** A pending generation that nobody has used for so long is void. */
const UNUSED_MS = 7 * 86_400_000;

/**
 * Whether the pending generation has had its time. Nobody watches the clock for it: a living machine checks in within half a minute, and the
 * first accepted use after the end records it. A machine's only key is never voided, or it would be locked out (N26).
 */
const hasLapsed = ({ current, pending }: Credential, now: Instant): boolean =>
  current !== null && pending?.registeredAt !== undefined && now - instantOf(pending.registeredAt) > UNUSED_MS;

/** A machine proves itself with its own key, and the old key stays until the new one has succeeded once (O5, O19). */
export const credential: Rules<Credential, AdmitMachine | AcceptCheck | ReceiveLogTail | StartRotation, MachineFact> = {
  initial: () => ({ status: 'unknown', current: null, pending: null, previous: null, highest: 0 }),

  decide(state, command, { now }): readonly (GenerationRegistered | GenerationConfirmed | PendingVoided)[] {
    const registeredAt = timestampOf(now);
    if (command.type === 'AdmitMachine')
      return [{ type: 'GenerationRegistered', generation: 1, keyHash: command.keyHash, registeredAt }];
    if (state.status !== 'live') throw new Refusal(`credential-${state.status}`);
    const presentsCurrent = command.keyHash === state.current?.keyHash;
    const pending = hasLapsed(state, now) ? null : state.pending;
    const voided: readonly PendingVoided[] =
      state.pending && !pending ? [{ type: 'PendingVoided', generation: state.pending.generation }] : [];
    switch (command.type) {
      case 'AcceptCheck':
      case 'ReceiveLogTail':
        if (presentsCurrent) return voided;
        // The first success of a new key is the evidence that it arrived.
        if (pending?.keyHash === command.keyHash)
          return [{ type: 'GenerationConfirmed', generation: pending.generation }];
        throw new Refusal('generation-behind');
      case 'StartRotation':
        // A retained old key must not found a second line of generations.
        if (!presentsCurrent) throw new Refusal('generation-behind');
        // A lost answer: the same hash again is the same generation.
        if ([pending?.keyHash, command.keyHash].includes(command.nextKeyHash)) return [];
        // A late duplicate, or a key that was retired or voided: it must not come to life again.
        if (command.isKnown === true) throw new Refusal('hash-registered-before');
        return [
          ...voided,
          {
            type: 'GenerationRegistered',
            generation: state.highest + 1,
            keyHash: command.nextKeyHash,
            registeredAt,
          },
        ];
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'GenerationRegistered': {
        const { type: _same, ...registered } = fact;
        const { generation } = registered;
        return {
          ...state,
          status: 'live',
          pending: registered,
          highest: Math.max(state.highest, generation),
        };
      }
      case 'GenerationConfirmed':
        return state.pending?.generation === fact.generation
          ? { ...state, current: state.pending, pending: null, previous: state.current }
          : state;
      case 'PendingVoided':
        return state.pending?.generation === fact.generation ? { ...state, pending: null } : state;
      case 'MachineDeleted':
        return { ...state, status: 'revoked' };
      default:
        return state;
    }
  },
};

/** The number of a key, as far as the head remembers it: current, pending, or the one that was cut last. Null for older ones. */
export const generationOf = ({ current, pending, previous }: Credential, keyHash: string): number | null =>
  [current, pending, previous].find((key) => key?.keyHash === keyHash)?.generation ?? null;
