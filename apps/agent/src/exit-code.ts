/** How `rollcall-agent` ends; documented in its help and stable, because service managers and scripts act on it. */
export const EXIT = {
  ok: 0,
  /** Something failed that should not. */
  fault: 1,
  /** The command line, the input or the state directory is not usable. */
  usage: 2,
  /** `status`: no daemon is running. */
  notRunning: 3,
  /** The plane refused, for example a token that cannot be used. */
  refused: 4,
  /** No proper answer: not reachable, or not proven to be the plane. */
  unreachable: 5,
  /** `enrol`: this installation is already enrolled. */
  alreadyEnrolled: 6,
  /** `run`: a person stopped this agent; only `rollcall-agent start` clears that. For `RestartPreventExitStatus`. */
  stoppedByPerson: 7,
  /** `status`: the plane said that this machine was deleted, and the agent waits for a person (O20). */
  deleted: 8,
} as const;

/** A failure that is told in one sentence, without a stack. */
export class Told extends Error {
  constructor(
    readonly exitCode: number,
    message: string,
  ) {
    super(message);
  }
}
