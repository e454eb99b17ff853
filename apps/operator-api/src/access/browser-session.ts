import { createHash } from 'node:crypto';
import { Refusal } from '@rollcall/decider';
import { bearerOf, type CredentialCarrier } from '@rollcall/nest-platform';
import { parseCookie, stringifySetCookie } from 'cookie';

/**
 * A session in a browser is a cookie that no script reads and that goes to this origin only. A second cookie holds what the page has to say
 * again in a header before anything changes: a page of somebody else can make a browser send the cookies, but cannot read them.
 */
const SESSION = '__Host-rollcall-session';
const PROOF = '__Host-rollcall-proof';
const PROOF_HEADER = 'x-rollcall-proof';
const BY_HAND_HEADER = 'x-rollcall-by-hand';

const SAFE = new Set(['GET', 'HEAD']);

/**
 * The session that a request carries: behind `Authorization: Bearer`, or in a browser's cookie.
 *
 * @throws Refusal `cross-site` for a cookie with a request that our own page cannot have made
 */
export const sessionOf = ({ method, headers }: CredentialCarrier): string | null => {
  const bearer = bearerOf(headers.authorization);
  if (bearer !== null) return bearer;
  const session = parseCookie(headers.cookie ?? '')[SESSION];
  if (session === undefined) return null;
  if (SAFE.has(method)) return session;
  const isOurs = originOf(headers.origin) === headers.host && headers[PROOF_HEADER] === proofOf(session);
  if (!isOurs) throw new Refusal('cross-site');
  return session;
};

/** The same for whoever signs in: what a page of somebody else made a browser send counts as none. */
export const sessionReplacedBy = (request: CredentialCarrier): string | null => {
  try {
    return sessionOf(request);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

/**
 * Whether a person is behind a request: it changes something, or our page says that somebody has touched it. A page that only looks again by
 * itself says nothing of the kind, and a stream cannot.
 */
export const isByHand = ({ method, headers }: CredentialCarrier): boolean =>
  !SAFE.has(method) || headers[BY_HAND_HEADER] !== undefined;

/** The two cookies of a session, until it ends; of none, to take them back. */
export const sessionCookies = (session: { readonly secret: string; readonly expiresAt: string } | null): string[] => {
  const until = session ? { expires: new Date(session.expiresAt) } : { maxAge: 0 };
  const terms = { ...until, path: '/', secure: true } as const;
  return [
    stringifySetCookie({ ...terms, name: SESSION, value: session?.secret ?? '', httpOnly: true, sameSite: 'lax' }),
    stringifySetCookie({ ...terms, name: PROOF, value: session ? proofOf(session.secret) : '', sameSite: 'strict' }),
  ];
};

const proofOf = (session: string): string => createHash('sha256').update(`proof ${session}`).digest('base64url');

const originOf = (origin: string | undefined): string | null =>
  origin !== undefined && URL.canParse(origin) ? new URL(origin).host : null;
