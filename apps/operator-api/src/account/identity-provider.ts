import { Refusal } from '@rollcall/decider';
import { hashOf } from '@rollcall/wire';
import * as openid from 'openid-client';
import type { ProviderSettings } from './provider-settings.js';

/** Seconds that we wait for the provider. */
const TIMEOUT = 5;

/** What a browser keeps between leaving for the provider and coming back: all three are made for this one sign-in. */
export type Flow = { readonly state: string; readonly nonce: string; readonly verifier: string };

/** Somebody whom the provider knows. */
export type KnownAccount = {
  /** SHA-256 of issuer and subject, hex: all that is kept of them. */
  readonly accountHash: string;
  /** When the provider says that they showed who they are, in milliseconds since 1970; null where it does not say. */
  readonly authenticatedAt: number | null;
};

/**
 * The identity provider of an organisation (OpenID Connect, authorization code with PKCE, state and nonce). It is found at the first sign-in, and
 * looked for again after each failure: a plane starts and goes on without it.
 */
export class IdentityProvider {
  private found: Promise<openid.Configuration> | null = null;

  constructor(
    private readonly settings: ProviderSettings | null,
    /** How many seconds ago somebody may have shown who they are, before the provider asks them again. */
    private readonly maxAge: number,
  ) {}

  /** What people call it; null: there is none. */
  get name(): string | null {
    return this.settings?.name ?? null;
  }

  /** Its host, as is recorded of an account. @throws Refusal `not-found` where there is none */
  get host(): string {
    return new URL(this.configured().issuer).host;
  }

  /** Where a browser goes to sign in, and what it has to bring back. @throws Refusal `not-found`, `provider-away` */
  async begin(redirectUri: string): Promise<{ readonly location: string; readonly flow: Flow }> {
    const configuration = await this.configuration();
    const flow = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
    };
    const location = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: 'openid',
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
      // So that a session of somebody who has left the provider signed in is not fresh for whoever sits there now.
      max_age: String(this.maxAge),
    });
    return { location: location.href, flow };
  }

  /** Whom the provider has sent back. @param returned the whole address @throws Refusal `not-found`, `provider-refused`, `provider-away` */
  async finish(returned: URL, { state, nonce, verifier }: Flow): Promise<KnownAccount> {
    const configuration = await this.configuration();
    const tokens = await openid
      .authorizationCodeGrant(configuration, returned, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      .catch((cause: unknown) => {
        throw refusalOf(cause);
      });
    const claims = tokens.claims();
    if (!claims) throw new Refusal('provider-refused');
    return {
      accountHash: hashOf(JSON.stringify([claims.iss, claims.sub])),
      authenticatedAt: claims.auth_time === undefined ? null : claims.auth_time * 1_000,
    };
  }

  private configuration(): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret } = this.configured();
    const url = new URL(issuer);
    this.found ??= openid
      .discovery(url, clientId, undefined, openid.ClientSecretBasic(clientSecret), {
        timeout: TIMEOUT,
        // Only on this host: the settings refuse any other.
        ...(url.protocol === 'http:' ? { execute: [openid.allowInsecureRequests] } : {}),
      })
      .catch(() => {
        this.found = null;
        throw new Refusal('provider-away', { retryAfter: TIMEOUT });
      });
    return this.found;
  }

  private configured(): ProviderSettings {
    if (this.settings === null) throw new Refusal('not-found');
    return this.settings;
  }
}

/** What the provider refused, or what does not fit together, is refused; that it did not answer is told apart. */
const refusalOf = (cause: unknown): Refusal => {
  const isAnswer = cause instanceof openid.AuthorizationResponseError || cause instanceof openid.ResponseBodyError;
  const { code } = cause as { readonly code?: string };
  const isAway =
    !isAnswer && (code === undefined || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_RESPONSE_IS_NOT_CONFORM');
  return isAway ? new Refusal('provider-away', { retryAfter: TIMEOUT }) : new Refusal('provider-refused');
};
