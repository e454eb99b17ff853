import { describe, expect, it } from '@jest/globals';
import { readinessFrom } from './display-fields.js';

const UNREADABLE: readonly (readonly [string, unknown])[] = [
  ['a word', 'disk-full'],
  ['a number among the codes', ['disk-full', 7]],
  ['a sentence among the codes', ['disk-full', 'The disk is full']],
  ['a code of 65 characters', ['x'.repeat(65)]],
  ['more codes than there can be', Array.from({ length: 65 }, (_, place) => `code-${place}`)],
];

describe('what a check says about readiness', () => {
  it.each([['nothing', undefined], ['null', null], ...UNREADABLE])(
    'is "not probed" when the blockers are %s, so that what is known stays (C11, O25)',
    (_, said) => expect(readinessFrom(said, ['disk-full'])).toEqual({ blockers: null, notProbed: ['disk-full'] }),
  );

  it.each(UNREADABLE)(
    'is "not probed" as a whole when what was not probed is %s, because that may have been any code (C11, O25)',
    (_, said) => expect(readinessFrom([], said)).toEqual({ blockers: null, notProbed: [] }),
  );

  it('keeps a code that it does not know, and tells "none" from "not probed" (O25)', () => {
    expect(readinessFrom(['of-a-later-agent'], ['of-another'])).toEqual({
      blockers: ['of-a-later-agent'],
      notProbed: ['of-another'],
    });
    for (const none of [undefined, null, []]) expect(readinessFrom([], none)).toEqual({ blockers: [], notProbed: [] });
  });
});
