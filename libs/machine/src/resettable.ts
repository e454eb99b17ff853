import type { MachineState } from './machine.js';

/**
 * The state without what is not a fold of the record: the chain numbers, of the machine and of each boot's last answer. Everything else
 * of a head equals what folding its stream gives. Losing them alarms nobody: the next check starts a chain, and is accepted.
 */
export const withoutResettable = (state: MachineState): MachineState => ({
  ...state,
  boots: state.boots.map((record) => ({ ...record, chain: null })),
  checkIns: { ...state.checkIns, chain: null },
});
