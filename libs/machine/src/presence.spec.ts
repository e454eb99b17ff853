import { describe, expect, it } from '@jest/globals';
import { gapBetween, presence, silence } from './presence.js';

const T = Date.UTC(2026, 0, 1, 12);

describe('presence comes only from the time since the last check, on the record’s clock (O22)', () => {
  it.each<[string, number, { lastCheckAt: number | null; window: number | null; gapEnd: number | null }, string]>([
    ['never checked', T, { lastCheckAt: null, window: null, gapEnd: null }, 'not-yet-arrived'],
    ['never checked, after a gap', T, { lastCheckAt: null, window: null, gapEnd: T - 1 }, 'not-yet-arrived'],
    ['just checked', T, { lastCheckAt: T, window: 120, gapEnd: null }, 'present'],
    ['exactly at the window', T + 120_000, { lastCheckAt: T, window: 120, gapEnd: null }, 'present'],
    ['one millisecond over the window', T + 120_001, { lastCheckAt: T, window: 120, gapEnd: null }, 'absent'],
    ['exactly at a longer window (C10)', T + 270_000, { lastCheckAt: T, window: 270, gapEnd: null }, 'present'],
    [
      'one millisecond over a longer window (C10)',
      T + 270_001,
      { lastCheckAt: T, window: 270, gapEnd: null },
      'absent',
    ],
    [
      'a full window after the plane was deaf (B1)',
      T + 720_000,
      { lastCheckAt: T, window: 120, gapEnd: T + 600_000 },
      'present',
    ],
    [
      'more than a window after it was deaf (B1)',
      T + 720_001,
      { lastCheckAt: T, window: 120, gapEnd: T + 600_000 },
      'absent',
    ],
    ['a gap before the last check', T + 120_001, { lastCheckAt: T, window: 120, gapEnd: T - 600_000 }, 'absent'],
    ['a reader that is behind the check', T - 500_000, { lastCheckAt: T, window: 120, gapEnd: null }, 'present'],
    ['a check-in without a window', T + 1, { lastCheckAt: T, window: null, gapEnd: null }, 'absent'],
  ])('%s', (_what, heardUntil, heard, expected) => {
    expect(presence(heardUntil, { ...heard, absentSince: null })).toBe(expected);
  });

  it('stays absent once that is recorded, until a check ends it, though the plane was deaf since (O22, B1)', () => {
    const heard = { lastCheckAt: T, window: 120, gapEnd: T + 600_000, absentSince: T + 120_000 };
    expect(presence(T + 600_001, heard)).toBe('absent');
    expect(presence(T + 600_001, { ...heard, absentSince: null })).toBe('present');
  });

  it('counts silence from the last check or from the end of the last gap, and never below nothing', () => {
    expect(silence(T + 5, { lastCheckAt: null, gapEnd: null })).toBeNull();
    expect(silence(T + 5, { lastCheckAt: T, gapEnd: null })).toBe(5);
    expect(silence(T + 5, { lastCheckAt: T, gapEnd: T + 2 })).toBe(3);
    expect(silence(T + 5, { lastCheckAt: T, gapEnd: T - 2 })).toBe(5);
    expect(silence(T - 5, { lastCheckAt: T, gapEnd: null })).toBe(0);
  });
});

describe('a time in which the plane was deaf (B1)', () => {
  it('lies between two neighbouring ears that are more than 15 s apart', () => {
    expect(gapBetween(T, T + 15_000)).toBeNull();
    expect(gapBetween(T, T + 15_001)).toEqual({ from: T, until: T + 15_001 });
  });

  it('has a threshold that can be set', () => {
    expect(gapBetween(T, T + 2_001, 2)).toEqual({ from: T, until: T + 2_001 });
    expect(gapBetween(T, T + 2_000, 2)).toBeNull();
  });
});
