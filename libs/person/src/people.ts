import { type Decider, Refusal } from '@rollcall/decider';
import type { PeopleEvent } from './people-facts.js';

/** How many people can be added to a plane. */
export const MOST_PEOPLE = 500;

/** The first person lets somebody use this plane. */
export type AddPerson = { readonly type: 'AddPerson'; readonly personId: string };

/** The ids of those who were added, in that order. The first person is not among them. */
export type PeopleState = { readonly added: readonly string[] };

/** The one stream of all who were added. */
export const PEOPLE_STREAM = 'people';

/** Whom the first person has let use this plane. */
export const people: Decider<PeopleState, AddPerson, PeopleEvent> = {
  fold: 1,
  initial: () => ({ added: [] }),
  decide(state, { personId }) {
    if (state.added.includes(personId)) return [];
    if (state.added.length >= MOST_PEOPLE) throw new Refusal('too-many-people');
    return [{ type: 'PersonAdded', personId }];
  },
  evolve: (state, fact) => (fact.type === 'PersonAdded' ? { added: [...state.added, fact.personId] } : state),
};
