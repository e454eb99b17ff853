import { Refusal } from '@rollcall/decider';
import type { EventStore } from '@rollcall/event-store';
import type { Clock } from '@rollcall/lifetimes';
import type { Principal } from '@rollcall/nest-platform';
import { automation, automationOwnerOf, automationTokenKey, liveToken, person, personStream } from '@rollcall/person';
import { hashOf } from '@rollcall/wire';
import type { Acting } from './acting.js';

/** A program with a token that a person issued, and that person as the owner of what it sees. */
export type Automation = Extract<Principal, { readonly kind: 'automation' }> & Acting;

/** Finds the token, fresh from the record on every request: one that is revoked is unknown from the next request on. @throws Refusal `not-signed-in` */
export const automationBehind = async (secret: string, store: EventStore, clock: Clock): Promise<Automation> => {
  const tokenHash = hashOf(secret);
  const view = await store.view(automation, { claim: automationTokenKey(tokenHash) });
  const token = view && liveToken(view.state, tokenHash, clock.wall());
  if (!token) throw new Refusal('not-signed-in');
  const owner = automationOwnerOf(view.stream);
  // One that was issued at the moment at which its person was removed is not among those that ended with them.
  if ((await store.view(person, { stream: personStream(owner) }))?.state.removed) throw new Refusal('not-signed-in');
  return {
    kind: 'automation',
    scopes: token.scopes,
    owner,
    actor: { kind: 'automation', id: token.tokenId },
  };
};
