import { expect, it } from '@jest/globals';
import { blockersFrom } from './display-fields.js';

it.each([
  ['nothing', undefined],
  ['a word', 'disk-full'],
  ['a number among the codes', ['disk-full', 7]],
  ['a sentence among the codes', ['disk-full', 'The disk is full']],
  ['a code of 65 characters', ['x'.repeat(65)]],
  ['more codes than there can be', Array.from({ length: 65 }, (_, place) => `code-${place}`)],
])('takes %s for "not probed", so that what is known stays (C11, O25)', (_, said) =>
  expect(blockersFrom(said)).toBeNull(),
);

it('keeps a code that it does not know, and tells "none" from "not probed" (O25)', () => {
  expect(blockersFrom(['of-a-later-agent'])).toEqual(['of-a-later-agent']);
  expect(blockersFrom([])).toEqual([]);
});
