import { expect, it } from '@jest/globals';
import { Refusal } from '@rollcall/decider';
import { nestsDeeperThan, textOf } from './json-body.js';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

it('counts the levels of arrays and objects together (C11)', () => {
  expect(nestsDeeperThan(nested(32), 32)).toBe(false);
  expect(nestsDeeperThan(nested(33), 32)).toBe(true);
  expect(nestsDeeperThan('{"a":[{"b":[]}]}', 4)).toBe(false);
  expect(nestsDeeperThan('{"a":[{"b":[]}]}', 3)).toBe(true);
  expect(nestsDeeperThan('[[],[],[]]', 2)).toBe(false);
});

it('does not count brackets in strings, also behind escapes (C11)', () => {
  expect(nestsDeeperThan(JSON.stringify(['[[[[', '\\', '"[[[', '\\"[[[[']), 1)).toBe(false);
  expect(nestsDeeperThan('["\\\\",[[', 2)).toBe(true);
});

it('refuses bytes that are not UTF-8 instead of replacing them (C11)', () => {
  expect(textOf(Buffer.from('"ä"'))).toBe('"ä"');
  expect(() => textOf(Buffer.from([0x22, 0xff, 0x22]))).toThrow(new Refusal('malformed-body'));
});
