import { instantOf, Refusal, timestampOf, type Instant, type Rules } from '@rollcall/decider';
import type { PauseMachine, ResumeMachine } from './commands.js';
import type { MachineFact, MachinePaused, MachineResumed } from './facts.js';

/** A person's word that the machine gets no work. */
export type Pause = {
  /** Why, for whoever wonders. */
  readonly note: string;
  /** RFC 3339; null: until somebody takes it back. */
  readonly until: string | null;
} | null;

/**
 * A pause is a person's word: nothing that a machine says begins or ends it. It is taken back by its own verb, or is over by itself at the
 * time that was given with it.
 */
export const pause: Rules<Pause, PauseMachine | ResumeMachine, MachineFact> = {
  initial: () => null,

  decide(state, command, { now }): readonly (MachinePaused | MachineResumed)[] {
    const stands = pauseStands(state, now);
    switch (command.type) {
      case 'PauseMachine': {
        const { note } = command;
        const until = endOf(command, now);
        if (until !== null && instantOf(until) <= now) throw new Refusal('pause-already-over');
        return stands && state?.note === note && state.until === until ? [] : [{ type: 'MachinePaused', note, until }];
      }
      case 'ResumeMachine':
        return stands ? [{ type: 'MachineResumed' }] : [];
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'MachinePaused':
        return { note: fact.note, until: fact.until };
      case 'MachineResumed':
      case 'MachineDeleted':
        return null;
      default:
        return state;
    }
  },
};

const endOf = ({ until }: PauseMachine, now: Instant): string | null =>
  typeof until === 'object' && until !== null ? timestampOf(now + until.seconds * 1_000) : until;

/** Whether a pause is in force, as of the record's time that the reader has heard. At its expiry it is over. */
export const pauseStands = (paused: Pause, heardUntil: Instant): boolean =>
  paused !== null && (paused.until === null || heardUntil < instantOf(paused.until));
