import { expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { MOST_PEOPLE, people } from './people.js';

const given = specFor(people);
const added = (personId = 'p1') => ({ type: 'PersonAdded', personId }) as const;
const add = (personId = 'p1') => ({ type: 'AddPerson', personId }) as const;

it('adds somebody once', () => {
  given().when(add()).then(added());
  given(added()).when(add()).thenNothing();
  given(added())
    .when(add('p2'))
    .thenState({ added: ['p1', 'p2'] });
});

it('removes whom it has added, once, and never lets them in again', () => {
  const remove = { type: 'RemovePerson', personId: 'p1' } as const;
  const removed = { type: 'PersonRemoved', personId: 'p1' } as const;
  given(added('p0'), added()).when(remove).then(removed);
  given(added('p0'), added())
    .when(remove)
    .thenState({ added: ['p0'], removed: ['p1'] });
  given(added(), removed).when(remove).thenNothing();
  given(added('p0')).when(remove).thenRefused('person-not-found', {});
  given(added(), removed, added('p2'), { ...removed, personId: 'p2' })
    .when(add('p3'))
    .thenState({ added: ['p3'], removed: ['p1', 'p2'] });
});

it('has room for five hundred', () => {
  const many = Array.from({ length: MOST_PEOPLE }, (_, n) => added(`p${n}`));
  given(...many)
    .when(add('another'))
    .thenRefused('too-many-people', {});
  given(...many.slice(1))
    .when(add('another'))
    .then(added('another'));
});

it('is not changed by a fact of an unknown type', () => {
  const state = people.evolve(people.initial(), added());
  expect(people.evolve(state, { type: 'PersonSang' } as never)).toBe(state);
});
