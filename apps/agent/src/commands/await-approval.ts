import type { Clock } from '@rollcall/lifetimes';
import type { CodeAnswer } from '@rollcall/wire';
import { EXIT, Told } from '../exit-code.js';
import { printable } from '../log.js';
import { enrolmentVerdictOn, type Enrolled } from '../plane/enrolment-verdict.js';
import type { PlaneAnswer } from '../plane/plane.js';

const STEP_MS = 5_000;
const MOST_MS = 60_000;

/** What waiting for a person needs. */
export type Approval = {
  readonly code: Pick<CodeAnswer, 'expiresIn' | 'interval'>;
  readonly clock: Clock;
  /** Aborted when the person at this end has had enough. */
  readonly signal: AbortSignal;
  /** Asks whether the code was approved; null where no answer came. */
  redeem(): Promise<PlaneAnswer | null>;
  /** Checks in with the credential; null where the plane does not know it. */
  check(): Promise<Enrolled | null>;
  /** Called after each question that nobody has answered, with the seconds that are left. */
  waiting(secondsLeft: number): void;
};

/**
 * Asks until a person has answered the code, as slowly as the plane wants (O12). A lost answer costs nothing: a code that was picked up looks
 * like any other that is over, and then the credential itself finds out whether it was let in.
 *
 * @throws Told where nobody was let in
 */
export const awaitApproval = async ({ code, clock, signal, redeem, check, waiting }: Approval): Promise<Enrolled> => {
  const end = clock.monotonic() + code.expiresIn * 1_000;
  let wait = code.interval * 1_000;
  for (;;) {
    await clock.sleep(wait, signal);
    if (signal.aborted)
      throw new Told(EXIT.unreachable, 'Interrupted. If a person approves the code all the same, run this again.');
    const answer = await redeem();
    const verdict = answer === null ? null : enrolmentVerdictOn(answer);
    if (verdict?.kind === 'enrolled') return verdict;
    const said = verdict?.kind === 'refused' ? verdict.code : null;
    if (said === 'slow-down') wait = Math.min(MOST_MS, wait + STEP_MS);
    else if (said === 'code-refused') return await admittedAllTheSame(check);
    else if (verdict?.kind === 'refused' && said !== 'code-pending' && said !== 'unavailable')
      throw new Told(EXIT.refused, printable(verdict.sentence));
    const left = end - clock.monotonic();
    // The plane says when a code is over; this is for one that says nothing any more.
    if (left < -MOST_MS) throw new Told(EXIT.unreachable, 'The plane has not answered. Run this again.');
    waiting(Math.max(0, Math.round(left / 1_000)));
  }
};

const admittedAllTheSame = async (check: Approval['check']): Promise<Enrolled> => {
  const admitted = await check();
  if (admitted) return admitted;
  throw new Told(
    EXIT.refused,
    'Nobody was let in: the code was refused, or nobody approved it in time. Run this again.',
  );
};
