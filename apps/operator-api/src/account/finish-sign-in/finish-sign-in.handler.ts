import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { accountKey, personIdOf } from '@rollcall/person';
import type { SignInAnswer } from '@rollcall/wire';
import { startSession } from '../../session/start-session.js';
import { SignInByAccount } from './finish-sign-in.command.js';

/** Finds the person whose account it is. Somebody whom nobody invited is refused, whoever the provider says that they are. */
@CommandHandler(SignInByAccount)
export class SignInByAccountHandler implements ICommandHandler<SignInByAccount> {
  constructor(private readonly store: EventStore) {}

  async execute({ account, browser }: SignInByAccount): Promise<SignInAnswer> {
    const holder = await this.store.holder(accountKey(account.accountHash));
    if (holder === null || holder.released) throw new Refusal('account-refused');
    return startSession(this.store, { id: personIdOf(holder.stream), proof: account, browser });
  }
}
