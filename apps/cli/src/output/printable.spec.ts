import { describe, expect, it } from '@jest/globals';
import { assert, dictionary, property, string } from 'fast-check';
import { printable, printableJson } from './printable.js';

const ESC = '\u001b';
const acts = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

describe('a name that wants to act on the terminal (U6)', () => {
  it.each([
    ['an escape sequence', `${ESC}[2Jgone`, '\\u001b[2Jgone'],
    ['a C1 sequence introducer', '\u009b31mred', '\\u009b31mred'],
    ['a carriage return', 'root\rguest', 'root\\u000dguest'],
    ['a delete', 'a\u007fb', 'a\\u007fb'],
    ['a direction override', 'exe\u202egpj', 'exe\\u202egpj'],
    ['a direction isolate', '\u2066x\u2069', '\\u2066x\\u2069'],
    ['an invisible tag', 'a\u{e0041}b', 'a\\udb40\\udc41b'],
    ['a lone surrogate', 'a\ud800b', 'a\\ud800b'],
  ])('shows %s instead of obeying it', (_what, raw, shown) => expect(printable(raw)).toBe(shown));

  it('leaves letters, accents, joiners and emoji as they are', () => {
    for (const name of ['Zürich-1', 'ビルド', 'می‌خواهم', '👩‍💻']) expect(printable(name)).toBe(name);
  });

  it('holds for any text', () =>
    assert(property(string({ unit: 'binary' }), (text) => expect(printable(text)).not.toMatch(acts))));
});

describe('JSON for a terminal (U6)', () => {
  it('means the same to a parser and has no raw control character, for any value', () =>
    assert(
      property(dictionary(string({ unit: 'binary' }), string({ unit: 'binary' })), (value) => {
        const text = printableJson(value, 2);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(text.replaceAll('\n', '')).not.toMatch(acts);
      }),
    ));

  it('is one line when asked for one', () =>
    expect(printableJson({ name: 'a\nb\u202e' })).toBe('{"name":"a\\nb\\u202e"}'));
});
