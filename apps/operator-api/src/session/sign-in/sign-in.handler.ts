import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { person, personIdOf, signInLinkKey } from '@rollcall/person';
import { hashOf, isSecret, makeSecret, type SignInAnswer } from '@rollcall/wire';
import { randomUUID } from 'node:crypto';
import { SignIn } from './sign-in.command.js';

/** Seconds. */
const SESSION_LIFE = 12 * 3_600;

/** Turns a link into a session, once. A link that is malformed, unknown, used or expired is refused in the same words. */
@CommandHandler(SignIn)
export class SignInHandler implements ICommandHandler<SignIn> {
  constructor(private readonly store: EventStore) {}

  async execute({ link }: SignIn): Promise<SignInAnswer> {
    if (!isSecret('rcl', link)) throw new Refusal('link-refused');
    const linkHash = hashOf(link);
    const holder = await this.store.holder(signInLinkKey(linkHash));
    if (holder === null) throw new Refusal('link-refused');
    const id = personIdOf(holder.stream);
    const session = makeSecret('rco');
    const sessionId = randomUUID();
    const { state } = await this.store.decide(
      person,
      { stream: holder.stream },
      { type: 'StartSession', linkHash, sessionId, sessionHash: hashOf(session), expiresIn: SESSION_LIFE },
      { actor: { kind: 'person', id } },
    );
    const started = state.sessions.find((candidate) => candidate.sessionId === sessionId);
    if (!started) throw new Error('a session was started and is not there');
    return { session, expiresAt: started.expiresAt, person: { id, name: state.name ?? '' } };
  }
}
