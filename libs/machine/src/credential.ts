import { Refusal, type Rules } from '@rollcall/decider';
import type { AcceptCheck, AdmitMachine, ReceiveLogTail, StartRotation } from './commands.js';
import type { GenerationConfirmed, GenerationRegistered, MachineFact } from './facts.js';

/** One key of a machine: a number that is never used again, and the SHA-256 (hex) of the secret. */
export type Generation = { readonly generation: number; readonly keyHash: string };

/** Which keys of this machine count. A stream holds the claims of all its keys, so a retired one still finds its machine. */
export type Credential = {
  /** Each word but `live` is the end of the refusal's code (O20). */
  readonly status: 'unknown' | 'live' | 'revoked';
  /** The newest key that has succeeded once; null until the first key's first check. */
  readonly current: Generation | null;
  /** Registered, and not yet seen. */
  readonly pending: Generation | null;
  /** A voided number is never used again. */
  readonly highest: number;
};

/** A machine proves itself with its own key, and the old key stays until the new one has succeeded once (O5, O19). */
export const credential: Rules<Credential, AdmitMachine | AcceptCheck | ReceiveLogTail | StartRotation, MachineFact> = {
  initial: () => ({ status: 'unknown', current: null, pending: null, highest: 0 }),

  decide(state, command): readonly (GenerationRegistered | GenerationConfirmed)[] {
    if (command.type === 'AdmitMachine')
      return [{ type: 'GenerationRegistered', generation: 1, keyHash: command.keyHash }];
    if (state.status !== 'live') throw new Refusal(`credential-${state.status}`);
    const presentsCurrent = command.keyHash === state.current?.keyHash;
    switch (command.type) {
      case 'AcceptCheck':
      case 'ReceiveLogTail':
        if (presentsCurrent) return [];
        // The first success of a new key is the evidence that it arrived.
        if (state.pending?.keyHash === command.keyHash)
          return [{ type: 'GenerationConfirmed', generation: state.pending.generation }];
        throw new Refusal('generation-behind');
      case 'StartRotation':
        // A retained old key must not found a second line of generations.
        if (!presentsCurrent) throw new Refusal('generation-behind');
        // A lost answer: the same hash again is the same generation.
        if ([state.pending?.keyHash, command.keyHash].includes(command.nextKeyHash)) return [];
        return [{ type: 'GenerationRegistered', generation: state.highest + 1, keyHash: command.nextKeyHash }];
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'GenerationRegistered': {
        const { generation, keyHash } = fact;
        return {
          ...state,
          status: 'live',
          pending: { generation, keyHash },
          highest: Math.max(state.highest, generation),
        };
      }
      case 'GenerationConfirmed':
        return state.pending?.generation === fact.generation
          ? { ...state, current: state.pending, pending: null }
          : state;
      case 'MachineDeleted':
        return { ...state, status: 'revoked' };
      default:
        return state;
    }
  },
};
