import { Refusal, type Rules } from '@rollcall/decider';
import type { AdmitMachine, DeleteMachine } from './commands.js';
import type { MachineAdmitted, MachineDeleted, MachineFact } from './facts.js';

/** How this installation came to be, and whether it still is. */
export type Enrolment = {
  readonly machine: string;
  readonly nodeId: string;
  readonly owner: string;
  /** The id of the token that was redeemed. */
  readonly token: string;
  readonly identifierHash: string;
  /** Hash of the credential it joined with: the same token and hash again are a repetition after a lost answer. Null before generation 1. */
  readonly firstKeyHash: string | null;
  readonly deleted: boolean;
};

/** A machine exists from the redemption of a token until its deletion, and never again (O31). Null before. */
export const enrolment: Rules<Enrolment | null, AdmitMachine | DeleteMachine, MachineFact> = {
  initial: () => null,

  decide(state, command, { now }): readonly (MachineAdmitted | MachineDeleted)[] {
    switch (command.type) {
      case 'AdmitMachine': {
        if (state) {
          const repeated = !state.deleted && state.token === command.token.id && state.firstKeyHash === command.keyHash;
          if (!repeated) throw new Refusal('token-refused');
          return [];
        }
        if (now >= command.token.expiresAt) throw new Refusal('token-refused');
        return [
          {
            type: 'MachineAdmitted',
            machine: command.machineId,
            nodeId: command.nodeId,
            owner: command.token.owner,
            token: command.token.id,
            ...(command.token.via ? { via: command.token.via } : {}),
            name: command.token.name ?? command.succeeds?.name ?? null,
            identifierHash: command.identifierHash,
            ...(command.succeeds ? { succeeds: command.succeeds.machineId } : {}),
          },
        ];
      }
      case 'DeleteMachine':
        if (!state) throw new Refusal('machine-not-found');
        return state.deleted
          ? []
          : [{ type: 'MachineDeleted', identifierHash: state.identifierHash, nodeId: state.nodeId }];
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'MachineAdmitted':
        return {
          machine: fact.machine,
          nodeId: fact.nodeId,
          owner: fact.owner,
          token: fact.token,
          identifierHash: fact.identifierHash,
          firstKeyHash: null,
          deleted: false,
        };
      case 'GenerationRegistered':
        return state && { ...state, firstKeyHash: state.firstKeyHash ?? fact.keyHash };
      case 'MachineDeleted':
        return state && { ...state, deleted: true };
      default:
        return state;
    }
  },
};
