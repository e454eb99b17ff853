import { parseCookie, stringifySetCookie } from 'cookie';
import type { Flow } from './identity-provider.js';

/** A sign-in that is under way in one browser: what the provider has to bring back, and what it is for. */
export type UnderWay = Flow & {
  /** The path of our page to go on at. */
  readonly returnTo: string;
  /** The session whose person the account is to be linked to; null: it is to sign in. */
  readonly linksTo: string | null;
};

/**
 * Kept by the browser that began it, so that whoever brings the answer is who asked, on any instance (U9). No script reads it, and no other
 * host can set it. The browser comes back from another site, hence `Lax`.
 */
const NAME = '__Host-rollcall-provider';
const LIFE_SECONDS = 600;

/** The cookie of a sign-in; of none, to take it back. */
export const flowCookie = (underWay: UnderWay | null): string =>
  stringifySetCookie({
    name: NAME,
    value: underWay ? Buffer.from(JSON.stringify(underWay)).toString('base64url') : '',
    maxAge: underWay ? LIFE_SECONDS : 0,
    path: '/',
    secure: true,
    httpOnly: true,
    sameSite: 'lax',
  });

/** The sign-in that is under way in the browser that asks; null where there is none. */
export const underWayIn = (cookies: string | undefined): UnderWay | null => {
  const value = parseCookie(cookies ?? '')[NAME];
  if (!value) return null;
  try {
    const { state, nonce, verifier, returnTo, linksTo } = JSON.parse(
      Buffer.from(value, 'base64url').toString('utf8'),
    ) as Partial<Record<keyof UnderWay, unknown>>;
    const [stateText, nonceText, verifierText] = [state, nonce, verifier].map((text) =>
      typeof text === 'string' && text !== '' ? text : null,
    );
    if (!stateText || !nonceText || !verifierText) return null;
    return {
      state: stateText,
      nonce: nonceText,
      verifier: verifierText,
      returnTo: pathOf(returnTo),
      linksTo: typeof linksTo === 'string' ? linksTo : null,
    };
  } catch {
    return null;
  }
};

/** A path of our own page, and nothing that a browser would take for another host. */
export const pathOf = (said: unknown): string =>
  typeof said === 'string' && /^\/(?:[\w-]+(?:\/[\w-]+)*)?$/.test(said) && said.length <= 200 ? said : '/';
