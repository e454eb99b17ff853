import { Refusal } from '@rollcall/decider';
import type { Decision } from '@rollcall/event-store';
import { pauseStands, type MachineState } from '@rollcall/machine';
import type { PauseAnswer } from '@rollcall/wire';

/**
 * The pause that is in force after a decision.
 *
 * @throws Refusal `machine-not-found` where the machine was deleted since the command was carried out
 */
export const pauseAnswer = (id: string, { state, recordedAt }: Decision<MachineState>): PauseAnswer => {
  if (state.enrolment?.deleted) throw new Refusal('machine-not-found');
  const pause = state.pause ?? null;
  return { machine: { id, pause: pauseStands(pause, recordedAt) ? pause : null } };
};
