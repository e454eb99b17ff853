import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { amount } from './amount.js';

const before = process.env['ROLLCALL_TESTS'];
beforeEach(() => {
  delete process.env['ROLLCALL_TESTS'];
});
afterEach(() => {
  if (before === undefined) delete process.env['ROLLCALL_TESTS'];
  else process.env['ROLLCALL_TESTS'] = before;
});

const chosen = () => amount({ usual: 4, whole: 20 });

it('does what a submission can afford where nothing is said, and all of it where it is asked for', () => {
  expect(chosen()).toBe(4);
  process.env['ROLLCALL_TESTS'] = 'whole';
  expect(chosen()).toBe(20);
});

it('takes no other word', () => {
  process.env['ROLLCALL_TESTS'] = 'all';
  expect(chosen).toThrow(/can only be "whole"/);
});
