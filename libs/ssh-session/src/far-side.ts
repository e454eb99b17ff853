import type { CommandResult } from './ports.js';

/** Runs one command at the far side, under a time limit of its own. Rejects when the link ended or the time ran out. */
export type Exec = (command: string) => Promise<CommandResult>;

/**
 * What a disposal does at the far side. A step is its commands and nothing else: it waits for nothing but `exec`, and rejects when it did not
 * reach what it was for.
 */
export abstract class FarSide {
  /** Removes what the session left there. */
  abstract cleanUp(exec: Exec): Promise<void>;

  /** Ends what the session began there; on a reset, restarts the far agent. */
  abstract stopFarSide(exec: Exec, why: 'stop' | 'reset'): Promise<void>;

  /** Finds out whether the far side reaches the plane, before a reset changes anything. Rejects when it does not. */
  abstract checkPlane(exec: Exec): Promise<void>;
}
