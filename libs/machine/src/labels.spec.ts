import { expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { labels, MOST_LABELS, parseLabel } from './labels.js';
import { machine } from './machine.js';
import { admitted, deleted, labelled } from './testing/builders.js';

const given = specFor(labels);
const set = (set: { readonly [key: string]: string }, ...remove: string[]) =>
  ({ type: 'SetLabels', set, remove }) as const;

it('sets labels one by one and records the whole, by key', () => {
  given()
    .when(set({ site: 'north', rack: 'b7' }))
    .then(labelled({ rack: 'b7', site: 'north' }));
  given(labelled({ rack: 'b7' }))
    .when(set({ rack: 'c1', site: 'north' }))
    .then(labelled({ rack: 'c1', site: 'north' }));
});

it('takes labels away, but for one that is set by the same word', () => {
  given(labelled({ rack: 'b7', site: 'north' }))
    .when(set({}, 'rack', 'unknown'))
    .then(labelled({ site: 'north' }));
  given(labelled({ rack: 'b7' }))
    .when(set({ rack: 'c1' }, 'rack'))
    .then(labelled({ rack: 'c1' }));
  given(labelled({ rack: 'b7' }))
    .when(set({}, 'rack'))
    .then(labelled({}));
});

it('records nothing where nothing changes', () => {
  given(labelled({ rack: 'b7' }))
    .when(set({ rack: 'b7' }, 'site'))
    .thenNothing();
  given().when(set({})).thenNothing();
  // A key that every object has is none that was set.
  given(labelled({ rack: 'b7' }))
    .when(set({ constructor: 'x' }, 'rack'))
    .then(labelled({ constructor: 'x' }));
});

it('refuses more than it keeps', () => {
  const many = Object.fromEntries(Array.from({ length: MOST_LABELS }, (_, n) => [`key-${n + 10}`, 'x']));
  given().when(set(many)).then(labelled(many));
  given(labelled(many))
    .when(set({ one: 'more' }))
    .thenRefused('too-many-labels', { most: MOST_LABELS });
});

it('labels a machine that lives', () => {
  specFor(machine)(admitted())
    .when(set({ rack: 'b7' }))
    .then(labelled({ rack: 'b7' }));
  specFor(machine)(admitted(), deleted())
    .when(set({ rack: 'b7' }))
    .thenRefused('machine-not-found');
});

it.each([
  ['site=berlin', ['site', 'berlin']],
  ['example.org/role-1=a = b', ['example.org/role-1', 'a = b']],
  ['k=' + '👩'.repeat(63), ['k', '👩'.repeat(63)]],
  ['k=' + '👩'.repeat(64), null],
  ['k'.repeat(64) + '=v', null],
  ['Site=berlin', null],
  ['site', null],
  ['site=', null],
  ['=berlin', null],
  ['site= berlin', null],
  ['site=exe\u202egpj', null],
])('reads %j as a label only where key and value are fit for one', (text, label) =>
  expect(parseLabel(text)).toEqual(label),
);
