import { ask } from './ask.js';

/** What only somebody who is there does to a page. */
const TOUCHES = ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const;
const AGAIN_MS = 60_000;

/**
 * Tells the plane that somebody is there, at most once in a minute while the page is touched: its own looks keep no session alive.
 *
 * @returns the way to stop it
 */
export const tellTouches = (page: EventTarget, now: () => number = Date.now): (() => void) => {
  let told = Number.NEGATIVE_INFINITY;
  const tell = (): void => {
    if (now() - told < AGAIN_MS) return;
    told = now();
    // Where the session is over the page shows the sign-in; where nobody answers it is told again with the next touch after a minute.
    ask('GET', '/v1/me', { byHand: true }).catch(() => undefined);
  };
  for (const touch of TOUCHES) page.addEventListener(touch, tell, { passive: true });
  return () => TOUCHES.forEach((touch) => page.removeEventListener(touch, tell));
};
