import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore } from '@rollcall/event-store';
import { person, personStream } from '@rollcall/person';
import { SignOut } from './sign-out.command.js';

/** Ends a session; from its commit on no instance knows it. */
@CommandHandler(SignOut)
export class SignOutHandler implements ICommandHandler<SignOut> {
  constructor(private readonly store: EventStore) {}

  async execute({ personId, sessionId }: SignOut): Promise<void> {
    await this.store.decide(
      person,
      { stream: personStream(personId) },
      { type: 'EndSession', sessionId },
      { actor: { kind: 'person', id: personId } },
    );
  }
}
