import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { afterStart, type Starts } from '@rollcall/admission';
import { Attempts } from '@rollcall/attempts';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { personIdOf, signInLinkKey } from '@rollcall/person';
import { hashOf, isSecret, type SignInAnswer } from '@rollcall/wire';
import { startSession } from '../start-session.js';
import { SignIn } from './sign-in.command.js';

/** Turns a link into a session, once. A link that is malformed, unknown, used or expired is refused in the same words. */
@CommandHandler(SignIn)
export class SignInHandler implements ICommandHandler<SignIn> {
  constructor(
    private readonly store: EventStore,
    private readonly attempts: Attempts,
  ) {}

  async execute(command: SignIn): Promise<SignInAnswer> {
    try {
      return await this.signIn(command);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'link-refused') throw error;
      // Only wrong ones are counted, and all together, as nobody is known who brings them: one that is right lets in whatever others try.
      const wait = await this.attempts.count('wrong-links', (before: Starts | null, now) => {
        const { starts, wait } = afterStart(before, now);
        return { memory: starts, answer: wait };
      });
      throw wait > 0 ? new Refusal('slow-down', { retryAfter: Math.ceil(wait / 1_000) }) : error;
    }
  }

  private async signIn({ link, browser }: SignIn): Promise<SignInAnswer> {
    if (!isSecret('rcl', link)) throw new Refusal('link-refused');
    const linkHash = hashOf(link);
    const holder = await this.store.holder(signInLinkKey(linkHash));
    if (holder === null) throw new Refusal('link-refused');
    return startSession(this.store, {
      id: personIdOf(holder.stream),
      proof: { linkHash },
      ...(browser ? { browser } : {}),
    });
  }
}
