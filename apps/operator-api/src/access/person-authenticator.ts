import { instantOf, Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { Clock } from '@rollcall/lifetimes';
import { Authenticator, type Principal } from '@rollcall/nest-platform';
import { isFresh, liveSession, person, personIdOf, sessionKey } from '@rollcall/person';
import { hashOf, isSecret } from '@rollcall/wire';

/** A person with a live session. */
export type SignedIn = Principal & {
  readonly kind: 'person';
  readonly fresh: boolean;
  readonly id: string;
  readonly name: string;
  readonly sessionId: string;
  /** RFC 3339, UTC. */
  readonly sessionExpiresAt: string;
};

/**
 * Finds the person behind a session, fresh from the record on every request: a session that was ended on one instance is ended on
 * all of them (U9). The end of a session is compared with this instance's clock: it must come also while nothing is recorded, when
 * the record's own time stands still. A credential of any other kind is nobody here (O3).
 */
export class PersonAuthenticator extends Authenticator {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
    /** For how many seconds a session is fresh. */
    private readonly freshSeconds: number,
  ) {
    super();
  }

  override async authenticate(bearer: string | null): Promise<SignedIn> {
    if (bearer === null || !isSecret('rco', bearer)) throw this.unknown();
    const sessionHash = hashOf(bearer);
    const view = await this.store.view(person, { claim: sessionKey(sessionHash) });
    const now = this.clock.wall();
    const session = view && liveSession(view.state, sessionHash, now);
    if (!session || view.state.name === null) throw this.unknown();
    return {
      kind: 'person',
      fresh: isFresh(session, now, this.freshSeconds),
      id: personIdOf(view.stream),
      name: view.state.name,
      sessionId: session.sessionId,
      sessionExpiresAt: new Date(instantOf(session.expiresAt)).toISOString(),
    };
  }

  override unknown(): Refusal {
    return new Refusal('not-signed-in');
  }
}
