import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, type Processes, type Running } from './processes.js';

const PROGRAM = fileURLToPath(new URL('programs/identity-provider.ts', import.meta.url));
const CLIENT = { clientId: 'rollcall', clientSecret: 'a-secret-of-the-tests' };

/** A real OpenID Connect provider, in a process of its own that a test starts and stops. */
export type TestProvider = {
  /** What a plane has to be told of it. */
  readonly settings: Readonly<Record<string, string>>;
  start(redirectUris: readonly string[]): Promise<Running>;
  /** Goes as a browser to where the plane sent it, signs in there as somebody, and comes back with the address that it was sent to. */
  signIn(location: string, login: string): Promise<URL>;
};

/** Its address is known before it runs. @param directory where its secret is kept for the plane */
export const testProvider = async (processes: Processes, directory: string): Promise<TestProvider> => {
  const issuer = `http://127.0.0.1:${await freePort()}`;
  const secretFile = join(directory, 'oidc.secret');
  await writeFile(secretFile, `${CLIENT.clientSecret}\n`, { mode: 0o600 });
  return {
    settings: {
      ROLLCALL_OIDC_ISSUER: issuer,
      ROLLCALL_OIDC_CLIENT_ID: CLIENT.clientId,
      ROLLCALL_OIDC_CLIENT_SECRET_FILE: secretFile,
      ROLLCALL_OIDC_NAME: 'the house',
    },
    start: (redirectUris) =>
      processes.start(
        'identity provider',
        process.execPath,
        [PROGRAM, JSON.stringify({ issuer, ...CLIENT, redirectUris })],
        { ready: /it answers/ },
      ),
    signIn: async (location, login) => {
      const cookies = new Map<string, string>();
      let url = new URL(location);
      while (url.origin === issuer) {
        if (url.pathname.startsWith('/interaction/')) url.searchParams.set('login', login);
        const answer = await fetch(url, {
          redirect: 'manual',
          headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
        });
        for (const cookie of answer.headers.getSetCookie()) {
          const [pair = ''] = cookie.split(';');
          const at = pair.indexOf('=');
          cookies.set(pair.slice(0, at), pair.slice(at + 1));
        }
        const next = answer.headers.get('location');
        if (next === null) throw new Error(`The provider answered ${answer.status}: ${await answer.text()}`);
        url = new URL(next, url);
      }
      return url;
    },
  };
};
