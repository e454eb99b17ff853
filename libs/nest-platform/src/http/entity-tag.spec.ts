import { describe, expect, it } from '@jest/globals';
import { entityTagOf, hasAlready } from './entity-tag.js';

describe('the tag of an answer (U3)', () => {
  const answer = { asOf: '2026-11-29T14:02:00.000Z', behind: false, total: 3 };

  it('does not change with the age of the answer, and changes with everything else', () => {
    const tag = entityTagOf(answer);
    expect(tag).toMatch(/^W\/"[\w-]{43}"$/);
    expect(entityTagOf({ ...answer, asOf: '2026-11-29T14:02:05.000Z' })).toBe(tag);
    expect(entityTagOf({ ...answer, total: 4 })).not.toBe(tag);
    expect(entityTagOf({ ...answer, behind: true })).not.toBe(tag);
  });

  it.each([
    ['the tag itself', 'W/"a"', true],
    ['its strong form', '"a"', true],
    ['one of a list', '"b", W/"a" ,"c"', true],
    ['any', ' * ', true],
    ['another', 'W/"b"', false],
    ['its text without quotes', 'a', false],
    ['nothing', undefined, false],
  ])('is known to who names %s', (_what, ifNoneMatch, known) => expect(hasAlready(ifNoneMatch, 'W/"a"')).toBe(known));
});
