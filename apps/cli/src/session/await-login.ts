import type { DeviceAuthorizationAnswer, OauthErrorAnswer, TokenAnswer } from '@rollcall/wire';
import type { Surroundings } from '../context.js';
import { EXIT, Failure, Interrupted } from '../failure.js';
import { PlaneAway } from '../plane/plane.js';
import { failureOf } from '../plane/problem-failure.js';
import type { TransportAnswer } from '../plane/transport.js';

const STEP_MS = 5_000;
const MOST_MS = 60_000;

/** What waiting for a person's answer needs. */
export type Waiting = {
  readonly login: Pick<DeviceAuthorizationAnswer, 'expires_in' | 'interval'>;
  readonly address: string;
  readonly surroundings: Pick<Surroundings, 'pause' | 'signal'>;
  /** Asks once. Not interrupted: a session that was answered is either kept or ended. */
  ask(): Promise<TransportAnswer>;
  /** Ends a session that came too late for anybody. */
  giveBack(session: string): Promise<void>;
};

/**
 * Asks until a person has answered, as slowly as the plane wants (RFC 8628, section 3.5).
 *
 * @throws Interrupted on Ctrl-C, with nothing left behind; Failure where nobody let it sign in
 */
export const awaitLogin = async ({ login, address, surroundings, ask, giveBack }: Waiting): Promise<TokenAnswer> => {
  const { pause, signal } = surroundings;
  let wait = login.interval * 1_000;
  let waited = 0;
  for (;;) {
    await pause(wait, signal).catch((cause: unknown) => {
      throw new Interrupted('interrupted', { cause });
    });
    waited += wait;
    const answer = await ask().catch((failure: unknown) => {
      if (failure instanceof PlaneAway) return failure;
      throw failure;
    });
    if (!(answer instanceof PlaneAway) && answer.status === 200) {
      const granted = answer.body as TokenAnswer;
      if (!signal.aborted) return granted;
      await giveBack(granted.access_token);
    }
    if (signal.aborted) throw new Interrupted('interrupted');
    wait = nextWait(answer, wait, address);
    // The plane says when a code is over; this is for one that says nothing any more.
    if (waited > login.expires_in * 1_000 + MOST_MS) throw answer instanceof PlaneAway ? answer : over();
  }
};

const over = (): Failure => new Failure('Nobody approved the code in time. Run this again.', EXIT.notSignedIn);

/** Milliseconds until the next question. @throws Failure where there is no use in another one */
const nextWait = (answer: TransportAnswer | PlaneAway, wait: number, address: string): number => {
  if (answer instanceof PlaneAway) return Math.min(MOST_MS, wait * 2);
  const { error } = (answer.body ?? {}) as Partial<OauthErrorAnswer>;
  switch (error) {
    case 'authorization_pending':
      return wait;
    case 'slow_down':
      return Math.min(MOST_MS, wait + STEP_MS);
    case 'access_denied':
      throw new Failure('The person who typed the code refused it: nobody is signed in.', EXIT.notSignedIn);
    case 'expired_token':
      throw over();
    default:
      if (answer.status === 503 || answer.status === 429) return Math.max(wait, (answer.retryAfter ?? 1) * 1_000);
      throw failureOf(answer, address);
  }
};
