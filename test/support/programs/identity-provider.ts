// A real OpenID Connect provider on plain HTTP of the loopback. Whoever asks is the account that they name: `?login=ada`, or typed.
import { Provider } from 'oidc-provider';

const { issuer, clientId, clientSecret, redirectUris } = JSON.parse(process.argv[2] ?? '') as {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUris: string[];
};

const provider = new Provider(issuer, {
  clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUris }],
  features: { devInteractions: { enabled: false } },
  cookies: { keys: ['test'] },
  pkce: { required: () => true },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  // Nobody is asked whether the plane may know who they are.
  loadExistingGrant: async ({ oidc: { client, session } }) => {
    if (!client || !session?.accountId) return undefined;
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope('openid');
    await grant.save();
    return grant;
  },
});

const FORM = '<!doctype html><form><label>Account <input name="login" autofocus></label><button>Go on</button></form>';

provider.use(async (context, next) => {
  if (!context.path.startsWith('/interaction/')) return next();
  const { login } = context.query;
  if (typeof login !== 'string') {
    context.type = 'html';
    context.body = FORM;
    return;
  }
  context.respond = false;
  await provider.interactionFinished(context.req, context.res, { login: { accountId: login } });
});

const server = provider.listen(Number(new URL(issuer).port), '127.0.0.1', () => process.stdout.write('it answers\n'));
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
