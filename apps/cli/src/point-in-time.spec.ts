import { expect, it } from '@jest/globals';
import { parsePointInTime } from './point-in-time.js';

it.each([
  ['2026-11-29T14:02:10.007Z', '2026-11-29T14:02:10.007Z'],
  ['2026-11-29 14:02:10Z', '2026-11-29T14:02:10.000Z'],
  ['2026-11-29 14:02', '2026-11-29T14:02:00.000Z'],
  ['2026-11-29T14:02:10+02:00', '2026-11-29T12:02:10.000Z'],
  ['2026-11-29', '2026-11-29T00:00:00.000Z'],
])('reads %s as a time, in UTC unless it has an offset', (text, time) => expect(parsePointInTime(text)).toBe(time));

it.each(['', 'now', '14:02', '2026-02-30', '2026-02-30 10:00', '2026-13-01', '2026-11-29 25:00', '29.11.2026'])(
  'refuses %j and says what it wants',
  (text) => expect(() => parsePointInTime(text)).toThrow('must be a time such as'),
);
