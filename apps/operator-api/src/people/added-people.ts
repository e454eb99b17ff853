import { Injectable } from '@nestjs/common';
import { EventStore } from '@rollcall/event-store';
import {
  FIRST_PERSON_KEY,
  people,
  PEOPLE_STREAM,
  person,
  personStream,
  signInLinkKey,
  type PeopleState,
} from '@rollcall/person';
import type { PersonView } from '@rollcall/wire';

/** The people of a plane, as its first person sees them; to everybody else there is nobody. */
@Injectable()
export class AddedPeople {
  constructor(private readonly store: EventStore) {}

  /** Whether this is whoever started the plane. */
  async isFirst(personId: string): Promise<boolean> {
    return (await this.store.holder(FIRST_PERSON_KEY))?.stream === personStream(personId);
  }

  /** The ids of those whom a person has added, and of those of them who were removed. */
  async addedBy(personId: string): Promise<Required<PeopleState>> {
    const nobody = { added: [], removed: [] };
    if (!(await this.isFirst(personId))) return nobody;
    return { ...nobody, ...(await this.store.view(people, { stream: PEOPLE_STREAM }))?.state };
  }

  /** Whether somebody has, or had, a link to sign in with of this hash. */
  async hasLink(personId: string, linkHash: string): Promise<boolean> {
    return (await this.store.holder(signInLinkKey(linkHash)))?.stream === personStream(personId);
  }

  /** Somebody by id. */
  async named(id: string): Promise<PersonView> {
    const view = await this.store.view(person, { stream: personStream(id) });
    return { id, name: view?.state.name ?? '' };
  }
}
