import { expect, it } from '@jest/globals';
import { RememberedLines } from './remembered-lines.js';

it('remembers the last whole lines that fit, in order, by their bytes (O26)', () => {
  const remembered = new RememberedLines(20);
  expect(remembered.tail().toString()).toBe('');
  for (const line of ['1 ä\n', '2 bbbbb\n', '3 ccccc\n']) remembered.add(line);
  expect(remembered.tail().toString()).toBe('2 bbbbb\n3 ccccc\n');
  remembered.add('4 d\n');
  expect(remembered.tail().toString()).toBe('2 bbbbb\n3 ccccc\n4 d\n');
  remembered.add('5\n');
  expect(remembered.tail().toString()).toBe('3 ccccc\n4 d\n5\n');
});

it('cuts a line that is longer than everything that it may remember, and keeps nothing else then', () => {
  const remembered = new RememberedLines(8);
  remembered.add('before\n');
  remembered.add('0123456789\n');
  expect(remembered.tail().toString()).toBe('01234567');
  remembered.add('after\n');
  expect(remembered.tail().toString()).toBe('after\n');
});

it('stays within 256 KiB, however much is logged', () => {
  const remembered = new RememberedLines();
  for (let line = 0; line < 5_000; line += 1) remembered.add(`${line} ${'x'.repeat(100)}\n`);
  expect(remembered.tail().length).toBeLessThanOrEqual(262_144);
  expect(remembered.tail().length).toBeGreaterThan(262_000);
  expect(remembered.tail().toString()).toMatch(/^\d+ x+\n[^]*4999 x+\n$/);
});
