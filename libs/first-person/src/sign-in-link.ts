import { instantOf } from '@rollcall/decider';
import type { EventStore } from '@rollcall/event-store';
import { person, personStream } from '@rollcall/person';
import { encodeSignInLink, hashOf, makeSecret } from '@rollcall/wire';

/** Seconds. */
const LINK_LIFE = 3_600;

/**
 * Makes a link with which a person signs in, once, within an hour. Only its hash is recorded, so this is the only time that anybody
 * sees the secret.
 */
export const issueSignInLink = async (
  store: EventStore,
  personId: string,
): Promise<{ readonly secret: string; readonly expiresAt: Date }> => {
  const secret = makeSecret('rcl');
  const linkHash = hashOf(secret);
  const { state } = await store.decide(
    person,
    { stream: personStream(personId) },
    { type: 'IssueSignInLink', linkHash, expiresIn: LINK_LIFE },
    { actor: { kind: 'plane', id: 'start' } },
  );
  const link = state.links.find((candidate) => candidate.linkHash === linkHash);
  if (!link) throw new Error('a link was issued and is not there');
  return { secret, expiresAt: new Date(instantOf(link.expiresAt)) };
};

/** A link as people paste it. @param place.pins `sha256/<base64>`; empty for a plane with a public certificate. */
export const signInAddress = (
  secret: string,
  place: { readonly operatorApi: string; readonly pins: readonly string[] },
): string => encodeSignInLink({ address: place.operatorApi, pins: place.pins, secret });
