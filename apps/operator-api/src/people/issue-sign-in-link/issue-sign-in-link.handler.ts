import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore } from '@rollcall/event-store';
import { person, personStream, signInLinkKey } from '@rollcall/person';
import type { PersonView } from '@rollcall/wire';
import { anotherCommand } from '../../machine/another-command.js';
import { AddedPeople } from '../added-people.js';
import { LINK_LIFE } from '../person-link.dto.js';
import { LetSignIn } from './issue-sign-in-link.command.js';

/** Registers a link for somebody. Whom the caller has not added is not found. */
@CommandHandler(LetSignIn)
export class IssueSignInLinkHandler implements ICommandHandler<LetSignIn> {
  constructor(
    private readonly store: EventStore,
    private readonly people: AddedPeople,
  ) {}

  async execute({ by, commandId, personId, linkHash }: LetSignIn): Promise<PersonView> {
    if (!(await this.people.addedBy(by)).added.includes(personId)) throw new Refusal('person-not-found');
    // A claim is never given back, so what is known now stays known, whatever the decision waits for.
    const isKnown = (await this.store.holder(signInLinkKey(linkHash))) !== null;
    await this.store
      .decide(
        person,
        { stream: personStream(personId) },
        { type: 'IssueSignInLink', linkHash, expiresIn: LINK_LIFE, isKnown },
        { actor: { kind: 'person', id: by }, commandId },
      )
      .catch((cause: unknown) => {
        throw cause instanceof ClaimTaken ? anotherCommand() : cause;
      });
    // Taken for a repetition, by an id that had said something else.
    if (!(await this.people.hasLink(personId, linkHash))) throw anotherCommand();
    return this.people.named(personId);
  }
}
