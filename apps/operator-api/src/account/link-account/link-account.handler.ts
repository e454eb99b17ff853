import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore } from '@rollcall/event-store';
import { person, personStream } from '@rollcall/person';
import { randomUUID } from 'node:crypto';
import { LinkShownAccount } from './link-account.command.js';

/** Links an account to a person. One that is somebody else's stays theirs. */
@CommandHandler(LinkShownAccount)
export class LinkAccountHandler implements ICommandHandler<LinkShownAccount> {
  constructor(private readonly store: EventStore) {}

  async execute({ personId, accountHash, provider }: LinkShownAccount): Promise<void> {
    await this.store
      .decide(
        person,
        { stream: personStream(personId) },
        { type: 'LinkAccount', accountId: randomUUID(), accountHash, provider },
        { actor: { kind: 'person', id: personId } },
      )
      .catch((cause: unknown) => {
        throw cause instanceof ClaimTaken ? new Refusal('account-taken') : cause;
      });
  }
}
