import type { ProviderRedirect } from '@rollcall/wire';
import { ask } from './ask.js';

/** Goes to the identity provider, and comes back to where one is. @throws as `ask` */
export const leaveForProvider = async (way: '/v1/provider/sign-in' | '/v1/accounts/link'): Promise<void> => {
  const returnTo = location.pathname === '/sign-in' ? '/' : location.pathname;
  const answer = await ask<ProviderRedirect>('POST', way, { body: { returnTo } });
  location.assign(answer.location);
};

const PROBLEMS: Readonly<Record<string, string>> = {
  'account-refused':
    'Nobody on this plane is linked to that account. Whoever runs it can send you a link; sign in with that first, and then link the account to you under your name.',
  'account-taken': 'That account is linked to somebody else on this plane.',
  'too-many-accounts': 'There is no room for another account.',
  'provider-refused': 'That sign-in was broken off or is too old. Begin again here.',
  'provider-away': 'The identity provider does not answer. Try again later, or sign in with a link.',
  'session-not-fresh':
    'You signed in too long ago to link an account, so nothing was linked. Sign in again, and link it then.',
  'not-signed-in': 'You had signed out meanwhile, so nothing was linked.',
};

/** What went wrong, where one comes back from the provider with a problem: words of ours for a closed list, whatever the address says. */
export const problemIn = (search: string): string => {
  const code = new URLSearchParams(search).get('problem');
  if (code === null) return '';
  return Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code]! : 'That did not work. Begin again here.';
};
