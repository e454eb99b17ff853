import { instantOf, Refusal } from '@rollcall/decider';
import type { EventStore } from '@rollcall/event-store';
import type { Clock } from '@rollcall/lifetimes';
import type { Principal } from '@rollcall/nest-platform';
import { isFresh, liveSession, person, personIdOf, sessionKey } from '@rollcall/person';
import { hashOf } from '@rollcall/wire';
import type { Acting } from './acting.js';
import type { SessionUses } from './session-uses.js';

/** A person with a live session. */
export type SignedIn = Extract<Principal, { readonly kind: 'person' }> &
  Acting & {
    readonly id: string;
    readonly name: string;
    readonly sessionId: string;
    /** RFC 3339, UTC. */
    readonly sessionExpiresAt: string;
    /** When they showed who they are, RFC 3339, UTC; null in a session of before that was recorded, which is never fresh. */
    readonly authenticatedAt: string | null;
  };

/** By what a session is judged. */
type Terms = {
  readonly clock: Clock;
  readonly uses: SessionUses;
  /** For how long after signing in it is fresh. */
  readonly freshSeconds: number;
  /** Whether somebody uses it now, or only looks whether it still counts. */
  readonly isUse: boolean;
};

/**
 * Finds the person behind a session, fresh from the record on every request: a session that was ended on one instance is ended on
 * all of them (U9). The end of a session is compared with this instance's clock: it must come also while nothing is recorded, when
 * the record's own time stands still. So is the end of one in a browser that nobody uses.
 *
 * @throws Refusal `not-signed-in`
 */
export const personBehind = async (
  secret: string,
  store: EventStore,
  { clock, uses, freshSeconds, isUse }: Terms,
): Promise<SignedIn> => {
  const sessionHash = hashOf(secret);
  const view = await store.view(person, { claim: sessionKey(sessionHash) });
  const now = clock.wall();
  const session = view && liveSession(view.state, sessionHash, now);
  if (!session || view.state.name === null || (await uses.isOver(session, isUse))) throw new Refusal('not-signed-in');
  const id = personIdOf(view.stream);
  return {
    kind: 'person',
    fresh: isFresh(session, now, freshSeconds),
    id,
    owner: id,
    actor: { kind: 'person', id },
    name: view.state.name,
    sessionId: session.sessionId,
    sessionExpiresAt: new Date(instantOf(session.expiresAt)).toISOString(),
    authenticatedAt: session.authenticatedAt ?? null,
  };
};
