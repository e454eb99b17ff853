import { Injectable } from '@nestjs/common';
import { instantOf, Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { Clock } from '@rollcall/lifetimes';
import { Authenticator, type Principal } from '@rollcall/nest-platform';
import { liveSession, person, personIdOf, sessionKey } from '@rollcall/person';
import { hashOf, isSecret } from '@rollcall/wire';

/** A person with a live session. */
export type SignedIn = Principal & {
  readonly kind: 'person';
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
@Injectable()
export class PersonAuthenticator extends Authenticator {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async authenticate(bearer: string | null): Promise<SignedIn> {
    if (bearer === null || !isSecret('rco', bearer)) throw new Refusal('not-signed-in');
    const sessionHash = hashOf(bearer);
    const view = await this.store.view(person, { claim: sessionKey(sessionHash) });
    const session = view && liveSession(view.state, sessionHash, this.clock.wall());
    if (!session || view.state.name === null) throw new Refusal('not-signed-in');
    return {
      kind: 'person',
      id: personIdOf(view.stream),
      name: view.state.name,
      sessionId: session.sessionId,
      sessionExpiresAt: new Date(instantOf(session.expiresAt)).toISOString(),
    };
  }
}
