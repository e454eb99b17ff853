import type { Instant } from '@rollcall/decider';
import { Temporal } from 'temporal-polyfill';
import { parseDays, parseWindow, type TimeOfDay } from './words.js';

/** The text is no schedule; the message says what is wrong with it and how it is written. */
export class NotASchedule extends Error {
  override readonly name = 'NotASchedule';
}

/** The most characters of a schedule. */
export const SCHEDULE_LENGTH = 200;

/** When something is promised: always, never, or in a window of some days of the week, by the clocks of a place. */
export type Schedule = {
  /** As it is written when everybody writes it alike. */
  readonly text: string;
  /** Whether an instant is in promised time. The first instant of a window is, the first one after it is not. */
  covers(instant: Instant): boolean;
  /** The next beginning of promised time after an instant; null: there is none. */
  nextStart(after: Instant): Instant | null;
};

/**
 * Reads a schedule: `always`, `none`, or days, a window and a time zone, such as `weekdays 09:00-18:00 Europe/Berlin` or
 * `mon,wed-fri 22:00-06:00 America/New_York`. A window that ends before it begins ends on the day after.
 *
 * @throws NotASchedule
 */
export const parseSchedule = (text: string): Schedule => {
  if (text.length > SCHEDULE_LENGTH) throw new NotASchedule(`it is longer than ${SCHEDULE_LENGTH} characters`);
  const words = text.trim().split(/\s+/);
  const [first = '', window, zone, ...rest] = words;
  if (words.length === 1 && first.toLowerCase() === 'always') return ALWAYS;
  if (words.length === 1 && first.toLowerCase() === 'none') return NONE;
  if (first === '') throw new NotASchedule(`it is empty: ${FORM}`);
  const days = said(() => parseDays(first));
  if (window === undefined) throw new NotASchedule(`the time of day is missing: ${FORM}`);
  const { start, end } = said(() => parseWindow(window));
  if (zone === undefined) throw new NotASchedule(`the time zone is missing: ${FORM}`);
  if (rest.length > 0) throw new NotASchedule(`"${rest.join(' ')}" is too much: ${FORM}`);
  const timeZone = zoneOf(zone);
  return weekly({ text: `${days.text} ${window} ${timeZone}`, days: days.days, start, end, timeZone });
};

const FORM = 'write always, none, or for example weekdays 09:00-18:00 Europe/Berlin';

const said = <Value>(parse: () => Value): Value => {
  try {
    return parse();
  } catch (cause) {
    throw new NotASchedule((cause as Error).message, { cause });
  }
};

const ALWAYS: Schedule = { text: 'always', covers: () => true, nextStart: () => null };
const NONE: Schedule = { text: 'none', covers: () => false, nextStart: () => null };

/** A place, not a distance from UTC: only a place knows when its clocks are changed. */
const zoneOf = (zone: string): string => {
  const asPlace = `"${zone}" is no time zone that this plane knows: write it as a place, such as Europe/Berlin, or UTC`;
  if (!/^[a-z]/i.test(zone)) throw new NotASchedule(asPlace);
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId;
  } catch (cause) {
    throw new NotASchedule(asPlace, { cause });
  }
};

type Weekly = {
  readonly text: string;
  /** 1 (Monday) to 7. */
  readonly days: ReadonlySet<number>;
  readonly start: TimeOfDay;
  readonly end: TimeOfDay;
  readonly timeZone: string;
};

/** Two windows are at most this many days apart: a week, and another where the clocks left one out. */
const DAYS_AHEAD = 15;

const weekly = ({ text, days, start, end, timeZone }: Weekly): Schedule => {
  /** The window that begins on a day of the calendar there; null where that is none of the days. */
  const windowOn = (day: Temporal.PlainDate): { readonly from: Instant; readonly until: Instant } | null => {
    if (!days.has(day.dayOfWeek)) return null;
    const from = instantAt(day, start, timeZone, 'first');
    const until = instantAt(end.minutes > start.minutes ? day : day.add({ days: 1 }), end, timeZone, 'last');
    return from < until ? { from, until } : null;
  };
  const dayOf = (instant: Instant): Temporal.PlainDate =>
    Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone).toPlainDate();
  return {
    text,
    covers(instant) {
      const today = dayOf(instant);
      return [today.subtract({ days: 1 }), today].some((day) => {
        const window = windowOn(day);
        return window !== null && window.from <= instant && instant < window.until;
      });
    },
    nextStart(after) {
      const today = dayOf(after);
      for (let days = 0; days <= DAYS_AHEAD; days += 1) {
        const from = windowOn(today.add({ days }))?.from;
        if (from !== undefined && from > after) return from;
      }
      return null;
    },
  };
};

/**
 * When the clocks of a place show a time. A time that they leave out is when they are put forward; one that they show twice is the first
 * where something begins, and the last where something ends: what is promised is kept both times.
 */
const instantAt = (
  day: Temporal.PlainDate,
  { minutes }: TimeOfDay,
  timeZone: string,
  which: 'first' | 'last',
): Instant => {
  const shown = day.toPlainDateTime().add({ minutes });
  const first = shown.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (first.toPlainDateTime().equals(shown))
    return which === 'first'
      ? first.epochMilliseconds
      : shown.toZonedDateTime(timeZone, { disambiguation: 'later' }).epochMilliseconds;
  // Left out: `earlier` is as long before the change as the time that is left out lies behind it.
  return first.getTimeZoneTransition('next')!.epochMilliseconds;
};
