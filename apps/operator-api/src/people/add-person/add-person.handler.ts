import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore, part } from '@rollcall/event-store';
import { people, PEOPLE_STREAM, person, personStream } from '@rollcall/person';
import type { PersonView } from '@rollcall/wire';
import { anotherCommand } from '../../machine/another-command.js';
import { AddedPeople } from '../added-people.js';
import { LINK_LIFE } from '../person-link.dto.js';
import { AddSomebody } from './add-person.command.js';

/** Registers somebody with a link, and adds them to those who use the plane, in one append. */
@CommandHandler(AddSomebody)
export class AddPersonHandler implements ICommandHandler<AddSomebody> {
  constructor(
    private readonly store: EventStore,
    private readonly people: AddedPeople,
  ) {}

  async execute({ by, commandId: id, name, linkHash }: AddSomebody): Promise<PersonView> {
    if (!(await this.people.isFirst(by))) throw new Refusal('not-the-first-person');
    const link = { linkHash, expiresIn: LINK_LIFE };
    await this.store
      .decideTogether(
        [
          part(person, personStream(id), { type: 'RegisterPerson', name, link }),
          part(people, PEOPLE_STREAM, { type: 'AddPerson', personId: id }),
        ],
        { actor: { kind: 'person', id: by }, commandId: id },
      )
      .catch((cause: unknown) => {
        // The same link for somebody else: a mistake.
        throw cause instanceof ClaimTaken ? anotherCommand() : cause;
      });
    const added = await this.people.named(id);
    // Taken for a repetition, by an id that had said something else.
    if (added.name !== name || !(await this.people.hasLink(id, linkHash))) throw anotherCommand();
    return added;
  }
}
