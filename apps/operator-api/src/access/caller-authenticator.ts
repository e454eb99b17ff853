import { Refusal } from '@rollcall/decider';
import type { EventStore } from '@rollcall/event-store';
import type { Clock } from '@rollcall/lifetimes';
import { Authenticator, type CredentialCarrier } from '@rollcall/nest-platform';
import { isSecret } from '@rollcall/wire';
import { automationBehind, type Automation } from './automation-authenticator.js';
import { isByHand, sessionOf } from './browser-session.js';
import { personBehind, type SignedIn } from './person-authenticator.js';
import type { SessionUses } from './session-uses.js';

/** Finds out who calls the operator API, by the kind of secret. What is neither a session nor an automation token is nobody here (O3). */
export class CallerAuthenticator extends Authenticator {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
    /** For how many seconds a session is fresh. */
    private readonly freshSeconds: number,
    private readonly uses: SessionUses,
  ) {
    super();
  }

  override credentialOf(request: CredentialCarrier): string | null {
    return sessionOf(request);
  }

  override async authenticate(bearer: string | null, request?: CredentialCarrier): Promise<SignedIn | Automation> {
    if (bearer !== null && isSecret('rco', bearer)) {
      const { clock, uses, freshSeconds } = this;
      const isUse = request !== undefined && isByHand(request);
      return personBehind(bearer, this.store, { clock, uses, freshSeconds, isUse });
    }
    if (bearer !== null && isSecret('rca', bearer)) return automationBehind(bearer, this.store, this.clock);
    throw this.unknown();
  }

  override unknown(): Refusal {
    return new Refusal('not-signed-in');
  }
}
