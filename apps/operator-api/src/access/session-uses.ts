import { Attempts } from '@rollcall/attempts';
import type { Instant } from '@rollcall/decider';
import type { Clock } from '@rollcall/lifetimes';
import { beganAt, isIdle, type Session } from '@rollcall/person';

/** How many sessions one instance remembers; above that it forgets all, and asks for each again. */
const MOST_KNOWN = 10_000;
/** A use is noted again after this part of the time that a session may be idle: a minute of half an hour. */
const NOTED_AGAIN = 1 / 30;

/**
 * When sessions in browsers were used last, as all instances together know it (U9). No part of the record: what is forgotten there with the
 * attempts counts as used when it began.
 */
export class SessionUses {
  private readonly known = new Map<string, Instant>();

  constructor(
    private readonly attempts: Attempts,
    private readonly clock: Clock,
    /** Seconds without a use after which a session in a browser is over. */
    private readonly idleSeconds: number,
  ) {}

  /**
   * Whether a session is over because nobody has used it. One of a program never is.
   *
   * @param isUse whether somebody uses it now, which is noted unless it is too late
   */
  async isOver(session: Session, isUse: boolean): Promise<boolean> {
    if (!session.browser) return false;
    const { sessionId } = session;
    const now = this.clock.wall();
    const known = this.known.get(sessionId);
    // Others may know of later uses, never of earlier ones: so nobody is turned away on what this instance remembers.
    if (known !== undefined && !isIdle(known, now, this.idleSeconds * (isUse ? NOTED_AGAIN : 1))) return false;
    const { usedAt, over } = await this.attempts.count(`session-use:${sessionId}`, (noted: Instant | null) => {
      const before = noted ?? beganAt(session);
      const isLate = isIdle(before, now, this.idleSeconds);
      const after = isUse && !isLate ? Math.max(before, now) : before;
      return { memory: after, answer: { usedAt: after, over: isLate } };
    });
    if (this.known.size >= MOST_KNOWN) this.known.clear();
    this.known.set(sessionId, usedAt);
    return over;
  }
}
