import { decodeSignInLink, type SignInAnswer, type SignInLink } from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import { clockTime } from '../output/relative-time.js';
import { PlaneAway } from '../plane/plane.js';
import { Refused } from '../plane/problem-failure.js';
import { askSecret } from '../session/ask.js';

/** `rollcall login [LINK]`: turns a one-time link into a session and keeps it owner-only. */
export const login = async (
  link: string | undefined,
  { surroundings, output, sessions, planeAt }: Context,
): Promise<void> => {
  const { address, pins, secret } = readLink(link ?? (await askSecret('Sign-in link (not shown): ', surroundings)));
  // Before the link is used up: a session that cannot be kept would be lost together with it.
  await sessions.prepare();
  const answer = await planeAt({ address, pins }).writeOnce<SignInAnswer>('POST', '/v1/sessions', { link: secret });
  await sessions.write({ address, pins, session: answer.session, expiresAt: answer.expiresAt, person: answer.person });
  if (output.asJson) output.json({ address, person: answer.person, expiresAt: answer.expiresAt });
  else output.line(`Signed in to ${address} as ${answer.person.name} until ${clockTime(answer.expiresAt)}.`);
};

const readLink = (text: string): SignInLink => {
  try {
    return decodeSignInLink(text);
  } catch (cause) {
    throw new Failure((cause as Error).message, EXIT.usage, { cause });
  }
};

/** `rollcall logout`: ends the session at the plane and forgets it here, also when the plane is away. */
export const logout = async ({ output, sessions, plane }: Context): Promise<void> => {
  const stored = await sessions.read();
  if (stored) {
    try {
      await (await plane()).write('DELETE', '/v1/sessions/current');
    } catch (failure) {
      if (failure instanceof PlaneAway) {
        await sessions.remove();
        throw new Failure(
          `The session is forgotten here, but the plane at ${stored.address} could not be told: it ends by itself at ${clockTime(stored.expiresAt)}.`,
        );
      }
      // A session that the plane does not know any more is what was asked for.
      if (!(failure instanceof Refused) || failure.code !== 'not-signed-in') throw failure;
    }
    await sessions.remove();
  }
  if (output.asJson) output.json({ signedOut: stored !== null });
  else output.line(stored ? `Signed out of ${stored.address}.` : 'Nobody was signed in here.');
};
