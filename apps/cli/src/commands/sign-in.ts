import { hostname } from 'node:os';
import {
  decodePlaneAddress,
  decodeSignInLink,
  DEVICE_CODE_GRANT,
  type DeviceAuthorizationAnswer,
  type DeviceAuthorizationRequest,
  type PlaneAddress,
  type SignInAnswer,
  type SignInLink,
  type TokenRequest,
} from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import { clockTime } from '../output/relative-time.js';
import { PlaneAway } from '../plane/plane.js';
import { Refused } from '../plane/problem-failure.js';
import { askSecret } from '../session/ask.js';
import { awaitLogin } from '../session/await-login.js';
import type { StoredSession } from '../session/session-file.js';

/** The name under which this tool asks to sign in. */
const CLIENT = 'rollcall';

/**
 * `rollcall login [WHERE]`: signs in with a one-time link, or at the address of a plane with a short code that is approved in a browser
 * (RFC 8628), and keeps the session owner-only.
 */
export const login = async (where: string | undefined, context: Context): Promise<void> => {
  const { output, sessions } = context;
  const wanted = await readWhere(where, context);
  // Before anything is used up: a session that cannot be kept would be lost together with it.
  await sessions.prepare();
  // One that cannot be read is replaced all the same; it ends by itself.
  const before = await sessions.read().catch(() => null);
  const stored = await ('secret' in wanted ? signInByLink(wanted, context) : signInByCode(wanted, context));
  await sessions.write(stored);
  if (before) await endReplaced(before, context);
  const { address, person, expiresAt } = stored;
  if (output.asJson) output.json({ address, person, expiresAt });
  else output.line(`Signed in to ${address} as ${person.name} until ${clockTime(expiresAt)}.`);
};

/** Nobody has the session from before any more. That its plane is away, or knows it no longer, takes nothing from the new one. */
const endReplaced = async ({ session, expiresAt, ...place }: StoredSession, { planeAt, output }: Context) => {
  try {
    await planeAt(place, session).writeOnce('DELETE', '/v1/sessions/current');
  } catch (failure) {
    if (failure instanceof Refused && failure.code === 'not-signed-in') return;
    output.note(`The session from before could not be ended: it ends by itself at ${clockTime(expiresAt)}.`);
  }
};

const signInByLink = async ({ address, pins, secret }: SignInLink, { planeAt }: Context): Promise<StoredSession> => {
  const answer = await planeAt({ address, pins }).writeOnce<SignInAnswer>('POST', '/v1/sessions', { link: secret });
  return { address, pins, session: answer.session, expiresAt: answer.expiresAt, person: answer.person };
};

const signInByCode = async (
  place: PlaneAddress,
  { planeAt, output, surroundings }: Context,
): Promise<StoredSession> => {
  const plane = planeAt(place);
  const request: DeviceAuthorizationRequest = {
    client_id: CLIENT,
    device_name: hostname(),
    device_platform: process.platform,
  };
  const login = await plane.writeOnce<DeviceAuthorizationAnswer>('POST', '/v1/device-authorization', request);
  const { device_code, user_code, verification_uri, expires_in } = login;
  output.note(`Open ${verification_uri} in a browser and type this code there: ${user_code}`);
  output.note(`Waiting for that, ${Math.round(expires_in / 60)} minutes at most; Ctrl-C ends it.`);
  const question: TokenRequest = { grant_type: DEVICE_CODE_GRANT, device_code, client_id: CLIENT };
  const { access_token, expires_at, person } = await awaitLogin({
    login,
    address: place.address,
    surroundings,
    ask: () => plane.answerTo('POST', '/v1/token', question),
    giveBack: (session) => planeAt(place, session).write('DELETE', '/v1/sessions/current'),
  });
  return { ...place, session: access_token, expiresAt: expires_at, person };
};

/** What was given, or what is typed now: a link, or where the plane is; nothing is the plane of the last time. */
const readWhere = async (
  given: string | undefined,
  { surroundings, sessions }: Context,
): Promise<SignInLink | PlaneAddress> => {
  const last = await sessions.lastPlane();
  const question = last
    ? `Sign-in link (not shown), or nothing to sign in to ${last.address} with a browser: `
    : 'Sign-in link, or the address of a plane (not shown): ';
  const text = given ?? (await askSecret(question, surroundings, last !== null));
  if (last && text === '') return last;
  try {
    if (text.includes('/sign-in')) return decodeSignInLink(text);
    const place = decodePlaneAddress(text);
    // The key that was expected there the last time is expected again.
    return place.pins.length === 0 && place.address === last?.address ? last : place;
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
