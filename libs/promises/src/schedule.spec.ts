import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseSchedule, SCHEDULE_LENGTH } from './schedule.js';

const at = (utc: string): number => Date.parse(`${utc}Z`);
const utc = (instant: number | null): string | null =>
  instant === null ? null : new Date(instant).toISOString().slice(0, 16);

describe('a schedule', () => {
  it.each([
    ['always', 'always'],
    [' None ', 'none'],
    ['weekdays 09:00-18:00 europe/berlin', 'weekdays 09:00-18:00 Europe/Berlin'],
    ['Mon,Wed-Fri   08:00-12:00 America/New_York', 'mon,wed-fri 08:00-12:00 America/New_York'],
    ['sat-mon 22:00-06:00 UTC', 'sat-mon 22:00-06:00 UTC'],
    ['daily 00:00-24:00 Asia/Kolkata', 'daily 00:00-24:00 Asia/Kolkata'],
    ['weekends 10:00-11:00 UTC', 'weekends 10:00-11:00 UTC'],
  ])('is read as it is meant, and written alike by everybody: %j', (text, written) => {
    expect(parseSchedule(text).text).toBe(written);
    expect(parseSchedule(written).text).toBe(written);
  });

  it.each([
    ['', 'it is empty'],
    ['weekdays', 'the time of day is missing'],
    ['weekdays 09:00-18:00', 'the time zone is missing'],
    ['weekdays 09:00-18:00 Europe/Berlin and more', '"and more" is too much'],
    ['always UTC', '"always" is no day'],
    ['mun 09:00-18:00 UTC', '"mun" is no day'],
    ['toString 09:00-18:00 UTC', '"tostring" is no day'],
    ['mon- 09:00-18:00 UTC', '"" is no day'],
    ['mon-wed-fri 09:00-18:00 UTC', '"mon-wed-fri" is no range of days'],
    ['daily 09:00 UTC', '"09:00" is no window'],
    ['daily 9:00-18:00 UTC', '"9:00" is no time of day'],
    ['daily 09:00-24:01 UTC', '"24:01" is no time of day'],
    ['daily 09:60-18:00 UTC', '"09:60" is no time of day'],
    ['daily 24:00-06:00 UTC', 'begins at the end of a day'],
    ['daily 09:00-09:00 UTC', 'ends when it begins'],
    ['daily 09:00-18:00 Europe/Berln', '"Europe/Berln" is no time zone that this plane knows'],
    ['daily 09:00-18:00 +02:00', '"+02:00" is no time zone that this plane knows: write it as a place'],
    ['x'.repeat(SCHEDULE_LENGTH + 1), 'it is longer than 200 characters'],
  ])('that is none is refused with what is wrong about it: %j (N11)', (text, message) =>
    expect(() => parseSchedule(text)).toThrow(message),
  );

  it('of always promises every moment and begins never, and of none promises no moment (N11)', () => {
    expect([parseSchedule('always').covers(0), parseSchedule('always').nextStart(0)]).toEqual([true, null]);
    expect([parseSchedule('none').covers(0), parseSchedule('none').nextStart(0)]).toEqual([false, null]);
  });

  it('covers its window from its first instant to the one before its end, by the clocks of the place (N11)', () => {
    const { covers } = parseSchedule('weekdays 09:00-18:00 Europe/Berlin');
    // A Thursday in winter, an hour ahead of UTC.
    expect(covers(at('2026-01-15T08:00') - 1)).toBe(false);
    expect(covers(at('2026-01-15T08:00'))).toBe(true);
    expect(covers(at('2026-01-15T17:00') - 1)).toBe(true);
    expect(covers(at('2026-01-15T17:00'))).toBe(false);
    // In summer two.
    expect(covers(at('2026-07-16T07:00'))).toBe(true);
    expect(covers(at('2026-07-16T16:00'))).toBe(false);
    // Saturday.
    expect(covers(at('2026-01-17T12:00'))).toBe(false);
  });

  it('lets a window over midnight belong to the day on which it begins', () => {
    const { covers } = parseSchedule('fri 22:00-06:00 America/New_York');
    // Friday, 2026-01-16, 22:00 there is Saturday 03:00 in UTC.
    expect(covers(at('2026-01-17T03:00'))).toBe(true);
    expect(covers(at('2026-01-17T10:59'))).toBe(true);
    expect(covers(at('2026-01-17T11:00'))).toBe(false);
    expect(covers(at('2026-01-16T08:00'))).toBe(false);
    expect(parseSchedule('daily 00:00-24:00 America/New_York').covers(at('2026-01-17T05:00'))).toBe(true);
  });

  it('begins where the clocks are put forward if they leave its beginning out, and ends there likewise', () => {
    // In Berlin, 02:00 was followed by 03:00 at 01:00 in UTC on 2026-03-29.
    const from = parseSchedule('daily 02:30-05:00 Europe/Berlin');
    expect([from.covers(at('2026-03-29T01:00') - 1), from.covers(at('2026-03-29T01:00'))]).toEqual([false, true]);
    const until = parseSchedule('daily 00:30-02:30 Europe/Berlin');
    expect([until.covers(at('2026-03-29T01:00') - 1), until.covers(at('2026-03-29T01:00'))]).toEqual([true, false]);
  });

  it('promises nothing on the day on which the clocks leave its whole window out', () => {
    const { covers, nextStart } = parseSchedule('daily 02:10-02:50 Europe/Berlin');
    for (const minute of ['00:10', '00:59', '01:00', '01:10', '01:30'])
      expect([minute, covers(at(`2026-03-29T${minute}`))]).toEqual([minute, false]);
    expect(utc(nextStart(at('2026-03-28T12:00')))).toBe('2026-03-30T00:10');
  });

  it('begins the first time and ends the last time that the clocks show it, when they are put back', () => {
    // In Berlin, 03:00 was followed by 02:00 at 01:00 in UTC on 2026-10-25, so 02:30 was at 00:30 and at 01:30.
    const from = parseSchedule('daily 02:30-05:00 Europe/Berlin');
    expect([from.covers(at('2026-10-25T00:30') - 1), from.covers(at('2026-10-25T00:30'))]).toEqual([false, true]);
    expect(from.covers(at('2026-10-25T01:10'))).toBe(true);
    const until = parseSchedule('daily 00:30-02:30 Europe/Berlin');
    expect([until.covers(at('2026-10-25T01:30') - 1), until.covers(at('2026-10-25T01:30'))]).toEqual([true, false]);
  });

  it('tells when its next window begins, over days, weeks and a change of the clocks', () => {
    const { nextStart } = parseSchedule('weekdays 09:00-18:00 Europe/Berlin');
    expect(utc(nextStart(at('2026-01-15T07:59')))).toBe('2026-01-15T08:00');
    expect(utc(nextStart(at('2026-01-15T08:00')))).toBe('2026-01-16T08:00');
    expect(utc(nextStart(at('2026-03-27T17:00')))).toBe('2026-03-30T07:00');
    expect(utc(parseSchedule('mon 09:00-10:00 UTC').nextStart(at('2026-01-12T09:00')))).toBe('2026-01-19T09:00');
    expect(utc(parseSchedule('sun 02:10-02:50 Europe/Berlin').nextStart(at('2026-03-23T00:00')))).toBe(
      '2026-04-05T00:10',
    );
  });

  it('begins the windows that it covers: between two beginnings nothing is promised anew (N11)', () => {
    const schedule = parseSchedule('mon,wed-fri 22:00-06:00 Europe/Berlin');
    fc.assert(
      fc.property(fc.integer({ min: at('2026-01-01T00:00'), max: at('2027-12-31T00:00') }), (instant) => {
        const next = schedule.nextStart(instant)!;
        expect(next).toBeGreaterThan(instant);
        expect([schedule.covers(next), schedule.covers(next - 1)]).toEqual([true, false]);
        const between = instant + Math.floor((next - instant) / 2);
        // What is promised in between was promised already.
        if (schedule.covers(between)) expect(schedule.covers(instant)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
