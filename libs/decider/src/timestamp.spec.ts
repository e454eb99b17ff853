import { expect, it } from '@jest/globals';
import { instantOf, timestampOf } from './timestamp.js';

it('writes instants as UTC and reads them back to the millisecond', () => {
  expect(timestampOf(Date.UTC(2026, 10, 29, 16, 55, 29, 7))).toBe('2026-11-29T16:55:29.007Z');
  expect(instantOf('2026-11-29T16:55:29.007Z')).toBe(Date.UTC(2026, 10, 29, 16, 55, 29, 7));
});

it('reads anything else as a time that is before and after nothing', () => {
  expect(instantOf('soon')).toBeNaN();
});
