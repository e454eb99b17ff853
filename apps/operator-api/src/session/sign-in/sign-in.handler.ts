import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { personIdOf, signInLinkKey } from '@rollcall/person';
import { hashOf, isSecret, type SignInAnswer } from '@rollcall/wire';
import { startSession } from '../start-session.js';
import { SignIn } from './sign-in.command.js';

/** Turns a link into a session, once. A link that is malformed, unknown, used or expired is refused in the same words. */
@CommandHandler(SignIn)
export class SignInHandler implements ICommandHandler<SignIn> {
  constructor(private readonly store: EventStore) {}

  async execute({ link }: SignIn): Promise<SignInAnswer> {
    if (!isSecret('rcl', link)) throw new Refusal('link-refused');
    const linkHash = hashOf(link);
    const holder = await this.store.holder(signInLinkKey(linkHash));
    if (holder === null) throw new Refusal('link-refused');
    return startSession(this.store, { id: personIdOf(holder.stream), proof: { linkHash } });
  }
}
