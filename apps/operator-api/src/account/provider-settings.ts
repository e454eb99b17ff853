import { readFileSync } from 'node:fs';
import type { EnvironmentReader } from '@rollcall/settings';

/** What is known of the identity provider of an organisation. */
export type ProviderSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What people call it. */
  readonly name: string;
};

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * `ROLLCALL_OIDC_ISSUER` (Default: none, and people sign in with links), and with it `ROLLCALL_OIDC_CLIENT_ID`, `ROLLCALL_OIDC_CLIENT_SECRET_FILE`
 * and `ROLLCALL_OIDC_NAME` (Default: the host of the issuer). An issuer without encryption has to be on this host.
 */
export const readProvider = (settings: EnvironmentReader): ProviderSettings | null => {
  if (settings.optionalText('ROLLCALL_OIDC_ISSUER') === null) return null;
  const issuer = settings.url('ROLLCALL_OIDC_ISSUER', ['https:', 'http:']);
  const url = URL.canParse(issuer) ? new URL(issuer) : null;
  if (url?.protocol === 'http:' && !LOOPBACK.has(url.hostname))
    settings.problem('ROLLCALL_OIDC_ISSUER must begin with https: only one on this host may do without');
  return {
    issuer,
    clientId: settings.text('ROLLCALL_OIDC_CLIENT_ID'),
    clientSecret: readSecret(settings),
    name: settings.text('ROLLCALL_OIDC_NAME', url?.host ?? issuer),
  };
};

const readSecret = (settings: EnvironmentReader): string => {
  const path = settings.text('ROLLCALL_OIDC_CLIENT_SECRET_FILE');
  if (path === '') return '';
  try {
    const secret = readFileSync(path, 'utf8').trim();
    if (secret === '') settings.problem('ROLLCALL_OIDC_CLIENT_SECRET_FILE is empty');
    return secret;
  } catch (error) {
    settings.problem(`ROLLCALL_OIDC_CLIENT_SECRET_FILE: ${error instanceof Error ? error.message : String(error)}`);
    return '';
  }
};
