import { describe, expect, it } from '@jest/globals';
import { formatDuration, parseDuration } from './duration.js';

const bounds = { least: 60, most: 86_400 };

describe('parseDuration', () => {
  it.each([
    ['90s', 90],
    ['15m', 900],
    ['1h30m', 5_400],
    ['1d', 86_400],
  ])('reads %s as %i seconds', (text, seconds) => expect(parseDuration(text, bounds)).toBe(seconds));

  it.each(['', '15', 'm', '15 m', '-15m', '1.5h', '15M', '15m!', '9999999s'])(
    'refuses "%s" and says what a duration is',
    (text) =>
      expect(() => parseDuration(text, bounds)).toThrow('must be a duration from 1m to 1d, such as 90s, 15m or 1h30m'),
  );

  it.each(['59s', '25h'])('refuses %s, which is out of bounds', (text) =>
    expect(() => parseDuration(text, bounds)).toThrow(RangeError),
  );
});

it('writes a duration so that it can be read again', () => {
  expect([0, 59, 60, 5_400, 90_061].map(formatDuration)).toEqual(['0s', '59s', '1m', '1h30m', '1d1h1m1s']);
});
