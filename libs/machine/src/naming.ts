import type { Rules } from '@rollcall/decider';
import type { AcceptCheck, RenameMachine } from './commands.js';
import type { MachineFact, MachineRenamed, NameAdopted } from './facts.js';

/** The display name, and who gave it. Null: nobody yet. */
export type Name = { readonly value: string; readonly by: 'token' | 'check' | 'person' } | null;

/** The name is adopted once, from the first check that carries one, and a person's word stays (O24). */
export const naming: Rules<Name, AcceptCheck | RenameMachine, MachineFact> = {
  initial: () => null,

  decide(state, command): readonly (NameAdopted | MachineRenamed)[] {
    switch (command.type) {
      case 'AcceptCheck':
        return state === null && command.name !== null ? [{ type: 'NameAdopted', name: command.name }] : [];
      case 'RenameMachine':
        // The same word from a person is still news where the machine had chosen it.
        return state?.by === 'person' && state.value === command.name
          ? []
          : [{ type: 'MachineRenamed', name: command.name }];
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'MachineAdmitted':
        return fact.name === null ? state : { value: fact.name, by: 'token' };
      case 'NameAdopted':
        return { value: fact.name, by: 'check' };
      case 'MachineRenamed':
        return { value: fact.name, by: 'person' };
      default:
        return state;
    }
  },
};
