import { part, type EventStore, type Part } from '@rollcall/event-store';
import { person, personStream, SESSION_LIFE_SECONDS, type Proof } from '@rollcall/person';
import { hashOf, makeSecret, type SignInAnswer } from '@rollcall/wire';
import { randomUUID } from 'node:crypto';

/**
 * Gives a person who has shown who they are a session, whose secret is answered once.
 *
 * @param using what is used up by it, in the same append (Default: nothing)
 * @throws Refusal where the proof does not hold, or where it was used up before
 */
export const startSession = async (
  store: EventStore,
  { id, proof, using = [] }: { readonly id: string; readonly proof: Proof; readonly using?: readonly Part[] },
): Promise<SignInAnswer> => {
  const session = makeSecret('rco');
  const sessionId = randomUUID();
  const start = {
    type: 'StartSession',
    proof,
    sessionId,
    sessionHash: hashOf(session),
    expiresIn: SESSION_LIFE_SECONDS,
  } as const;
  const [{ state }] = await store.decideTogether([part(person, personStream(id), start), ...using], {
    actor: { kind: 'person', id },
    commandId: randomUUID(),
  });
  const started = state.sessions.find((candidate) => candidate.sessionId === sessionId);
  if (!started) throw new Error('a session was started and is not there');
  return { session, expiresAt: started.expiresAt, person: { id, name: state.name ?? '' } };
};
