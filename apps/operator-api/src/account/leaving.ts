import type { ProviderRedirect } from '@rollcall/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { flowCookie, pathOf } from './flow-cookie.js';
import type { IdentityProvider } from './identity-provider.js';

/** The path that the provider sends browsers back to. */
export const CALLBACK_PATH = '/v1/provider/callback';

/** Where a browser is to go, with a cookie of what it brings back from there. */
export const leaveFor = async (
  provider: IdentityProvider,
  { host, protocol }: Pick<FastifyRequest, 'host' | 'protocol'>,
  reply: FastifyReply,
  { returnTo, linksTo }: { readonly returnTo: string | undefined; readonly linksTo: string | null },
): Promise<ProviderRedirect> => {
  const { location, flow } = await provider.begin(`${protocol}://${host}${CALLBACK_PATH}`);
  void reply.header('set-cookie', flowCookie({ ...flow, returnTo: pathOf(returnTo), linksTo }));
  return { location };
};
