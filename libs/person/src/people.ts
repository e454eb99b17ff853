import { type Decider, Refusal } from '@rollcall/decider';
import type { PeopleEvent } from './people-facts.js';

/** How many people can be added to a plane. */
export const MOST_PEOPLE = 500;

/** The first person lets somebody use this plane. */
export type AddPerson = { readonly type: 'AddPerson'; readonly personId: string };
/** And no longer. */
export type RemovePerson = { readonly type: 'RemovePerson'; readonly personId: string };

/** Ids, in the order of adding and of removing. The first person is not among them. */
export type PeopleState = {
  /** Those who were added and not removed. */
  readonly added: readonly string[];
  /** Absent on heads that were folded before anybody could be removed. */
  readonly removed?: readonly string[];
};

/** The one stream of all who were added. */
export const PEOPLE_STREAM = 'people';

/** Whom the first person has let use this plane. */
export const people: Decider<PeopleState, AddPerson | RemovePerson, PeopleEvent> = {
  fold: 1,
  initial: () => ({ added: [] }),
  decide(state, { type, personId }) {
    if (type === 'RemovePerson') {
      if (state.removed?.includes(personId)) return [];
      if (!state.added.includes(personId)) throw new Refusal('person-not-found');
      return [{ type: 'PersonRemoved', personId }];
    }
    if (state.added.includes(personId)) return [];
    if (state.added.length >= MOST_PEOPLE) throw new Refusal('too-many-people');
    return [{ type: 'PersonAdded', personId }];
  },
  evolve(state, fact) {
    switch (fact.type) {
      case 'PersonAdded':
        return { ...state, added: [...state.added, fact.personId] };
      case 'PersonRemoved':
        return {
          added: state.added.filter((personId) => personId !== fact.personId),
          removed: [...(state.removed ?? []), fact.personId],
        };
      default:
        return state;
    }
  },
};
