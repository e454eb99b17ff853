import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cleanDisplay } from './clean-display.js';

describe('a display field that cannot be stored or shown is cleaned and never costs liveness (C11)', () => {
  it.each<[string, unknown, string | null]>([
    ['an ordinary name', 'build-box', 'build-box'],
    ['a NUL', 'lab\u0000-1', 'lab-1'],
    ['control characters', '\u0007a\tb\r\nc\u001B[31m', 'abc[31m'],
    ['DEL and C1', 'a\u007Fb\u0085c\u009Fd', 'abcd'],
    ['the first of C0 and the last of C1', '\u0000a\u001Fb\u0080c', 'abc'],
    ['a lone high surrogate', 'a\uD800b', 'ab'],
    ['a lone low surrogate', 'a\uDFFFb', 'ab'],
    ['a whole pair', 'a\u{1F600}b', 'a\u{1F600}b'],
    ['bidi marks', '\u200Ea\u200Fb\u061Cc', 'abc'],
    ['bidi embeddings and overrides', '\u202Aa\u202Bb\u202Cc\u202Dd\u202Ee', 'abcde'],
    ['bidi isolates', '\u2066a\u2067b\u2068c\u2069d', 'abcd'],
    ['line and paragraph separators', 'a\u2028b\u2029c', 'abc'],
    ['what stands next to them', '\u2027a\u202Fb\u206Ac', '\u2027a\u202Fb\u206Ac'],
    ['letters of any script', 'مضيف-Ω-主机', 'مضيف-Ω-主机'],
    ['spaces around', '  a b  ', 'a b'],
    ['spaces around that control characters hid', '\u0000 a \u0000', 'a'],
    ['nothing', '', null],
    ['nothing but what is removed', ' \u0000\u202E ', null],
    ['a number', 7, null],
    ['null', null, null],
    ['undefined', undefined, null],
    ['an object', { toString: () => 'a' }, null],
  ])('%s', (_what, text, expected) => {
    expect(cleanDisplay(text, 63)).toBe(expected);
  });

  it('is cut to its length between code points, without a space at the end', () => {
    expect(cleanDisplay('abcdef', 3)).toBe('abc');
    expect(cleanDisplay('ab cdef', 3)).toBe('ab');
    expect(cleanDisplay('a\u{1F600}\u{1F601}\u{1F602}', 2)).toBe('a\u{1F600}');
    expect(cleanDisplay('abc', 3)).toBe('abc');
    expect(cleanDisplay('  abc', 3)).toBe('abc');
  });

  it('gives nothing but what can be stored, and the same when it is cleaned again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(80), (text, maxLength) => {
        const cleaned = cleanDisplay(text, maxLength);
        if (cleaned === null) return;
        expect(cleaned.isWellFormed()).toBe(true);
        expect(cleaned).not.toContain('\u0000');
        expect(Array.from(cleaned).length).toBeLessThanOrEqual(maxLength);
        expect(cleanDisplay(cleaned, maxLength)).toBe(cleaned);
      }),
    );
  });
});
