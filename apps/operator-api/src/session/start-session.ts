import { part, type EventStore, type Part } from '@rollcall/event-store';
import {
  person,
  personStream,
  SESSION_LIFE_SECONDS,
  sessionKey,
  type Proof,
  type StartSession,
} from '@rollcall/person';
import { hashOf, makeSecret, type SignInAnswer } from '@rollcall/wire';
import { randomUUID } from 'node:crypto';

type Starting = {
  readonly id: string;
  readonly proof: Proof;
  readonly using?: readonly Part[];
  readonly browser?: InBrowser;
};

/** A browser that somebody signs in with, and the secret of the session that it has by now; null: none. */
export type InBrowser = { readonly replaces: string | null };

/**
 * Gives a person who has shown who they are a session, whose secret is answered once.
 *
 * @param using what is used up by it, in the same append (Default: nothing)
 * @param browser where it is one in a browser, with the session that the browser presented: nobody has that any more, so it ends in the same
 *   append, whoever it was of (Default: it is a program's)
 * @throws Refusal where the proof does not hold, or where it was used up before
 */
export const startSession = async (
  store: EventStore,
  { id, proof, using = [], browser }: Starting,
): Promise<SignInAnswer> => {
  const session = makeSecret('rco');
  const sessionId = randomUUID();
  const start: StartSession = {
    type: 'StartSession',
    proof,
    sessionId,
    sessionHash: hashOf(session),
    expiresIn: SESSION_LIFE_SECONDS,
    ...(browser ? { browser: true } : {}),
  };
  const replaced = browser?.replaces ? await sessionBehind(store, browser.replaces) : null;
  const stream = personStream(id);
  const isOwn = replaced?.stream === stream;
  const [{ state }] = await store.decideTogether(
    [
      part(person, stream, isOwn ? { ...start, replaces: replaced.sessionId } : start),
      ...using,
      ...(replaced && !isOwn
        ? [part(person, replaced.stream, { type: 'EndSession', sessionId: replaced.sessionId })]
        : []),
    ],
    { actor: { kind: 'person', id }, commandId: randomUUID() },
  );
  const started = state.sessions.find((candidate) => candidate.sessionId === sessionId);
  if (!started) throw new Error('a session was started and is not there');
  return { session, expiresAt: started.expiresAt, person: { id, name: state.name ?? '' } };
};

const sessionBehind = async (store: EventStore, secret: string) => {
  const sessionHash = hashOf(secret);
  const view = await store.view(person, { claim: sessionKey(sessionHash) });
  const session = view?.state.sessions.find((candidate) => candidate.sessionHash === sessionHash);
  return view && session ? { stream: view.stream, sessionId: session.sessionId } : null;
};
