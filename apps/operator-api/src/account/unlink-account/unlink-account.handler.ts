import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore } from '@rollcall/event-store';
import { person, personStream } from '@rollcall/person';
import { UnlinkAccountOf } from './unlink-account.command.js';

/** Ends a link: nobody signs in with that account from its commit on. Sessions that began with it go on. */
@CommandHandler(UnlinkAccountOf)
export class UnlinkAccountHandler implements ICommandHandler<UnlinkAccountOf> {
  constructor(private readonly store: EventStore) {}

  async execute({ personId, accountId }: UnlinkAccountOf): Promise<void> {
    await this.store.decide(
      person,
      { stream: personStream(personId) },
      { type: 'UnlinkAccount', accountId },
      { actor: { kind: 'person', id: personId } },
    );
  }
}
