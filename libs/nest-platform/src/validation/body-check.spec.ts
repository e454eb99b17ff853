import { expect, it } from '@jest/globals';
import { Refusal } from '@rollcall/decider';
import { bodyCheck } from './body-check.js';

const check = bodyCheck({
  type: 'object',
  required: ['word', 'place'],
  properties: {
    word: { enum: ['yes', 'no'] },
    place: { type: 'object', required: ['shelf'], properties: { shelf: { type: 'integer', minimum: 1 } } },
  },
});
const errorsOf = (body: unknown): unknown => {
  try {
    check(body);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'invalid-body') return error.details['errors'];
    throw error;
  }
  return [];
};

it('lets through what the schema allows, as it is, with the fields that the schema does not name', () => {
  const body = { word: 'yes', place: { shelf: 3, more: 'x' }, newer: [1] };
  expect(check(body)).toBe(body);
});

it.each([
  ['a field that is missing', { place: { shelf: 1 } }, [{ field: 'word', message: 'word must be there' }]],
  [
    'a field of a field that is missing',
    { word: 'no', place: {} },
    [{ field: 'place.shelf', message: 'place.shelf must be there' }],
  ],
  [
    'one of several words',
    { word: 'maybe', place: { shelf: 1 } },
    [{ field: 'word', message: 'word must be equal to one of the allowed values: yes, no' }],
  ],
  [
    'a number that is none',
    { word: 'no', place: { shelf: '1' } },
    [{ field: 'place.shelf', message: 'place.shelf must be integer' }],
  ],
  ['a body that is no object', null, [{ field: '', message: 'the body must be object' }]],
])('names %s', (_, body, errors) => expect(errorsOf(body)).toEqual(errors));

it('names all that is wrong at once, and repeats no value of the body', () => {
  const errors = errorsOf({ word: 'rcm_secret', place: { shelf: 0 } });
  expect(errors).toHaveLength(2);
  expect(JSON.stringify(errors)).not.toContain('rcm_secret');
});
