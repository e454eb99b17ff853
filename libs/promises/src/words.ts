const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const GROUPS: Readonly<Record<string, readonly number[]>> = {
  daily: [1, 2, 3, 4, 5, 6, 7],
  weekdays: [1, 2, 3, 4, 5],
  weekends: [6, 7],
};

/** Minutes after midnight, by the clocks of a place; up to 1,440. */
export type TimeOfDay = { readonly minutes: number };

/**
 * Reads days of the week: `daily`, `weekdays`, `weekends`, or names and ranges such as `mon,wed-fri`; a range may go over Sunday.
 *
 * @throws Error that says which word is no day
 */
export const parseDays = (text: string): { readonly text: string; readonly days: ReadonlySet<number> } => {
  const written = text.toLowerCase();
  const group = Object.hasOwn(GROUPS, written) ? GROUPS[written] : undefined;
  return { text: written, days: new Set(group ?? written.split(',').flatMap(daysIn)) };
};

const daysIn = (part: string): readonly number[] => {
  const ends = part.split('-').map(dayOf);
  const [from, to = from, ...more] = ends;
  if (from === undefined || to === undefined || more.length > 0)
    throw new Error(`"${part}" is no range of days: write it as wed-fri`);
  const length = ((to - from + DAYS.length) % DAYS.length) + 1;
  return Array.from({ length }, (_, index) => ((from - 1 + index) % DAYS.length) + 1);
};

const dayOf = (word: string): number => {
  const day = (DAYS as readonly string[]).indexOf(word) + 1;
  if (day === 0)
    throw new Error(`"${word}" is no day: write daily, weekdays, weekends, or ${DAYS.join(', ')} (mon,wed-fri)`);
  return day;
};

/**
 * Reads a window of the day, `09:00-18:00`; the end of the day is 24:00.
 *
 * @throws Error that says what is wrong with it
 */
export const parseWindow = (text: string): { readonly start: TimeOfDay; readonly end: TimeOfDay } => {
  const [start, end, ...more] = text.split('-');
  if (start === undefined || end === undefined || more.length > 0)
    throw new Error(`"${text}" is no window: write it as 09:00-18:00`);
  const window = { start: timeOf(start), end: timeOf(end) };
  if (window.start.minutes === 1_440) throw new Error(`"${text}" begins at the end of a day: write 00:00`);
  if (window.start.minutes === window.end.minutes)
    throw new Error(`"${text}" ends when it begins: write 00:00-24:00 for a whole day`);
  return window;
};

const timeOf = (text: string): TimeOfDay => {
  const [, hours, minutes] = /^([01]\d|2[0-4]):([0-5]\d)$/.exec(text) ?? [];
  const all = Number(hours) * 60 + Number(minutes);
  if (Number.isNaN(all) || all > 1_440)
    throw new Error(`"${text}" is no time of day: write it with two digits each, from 00:00 to 24:00`);
  return { minutes: all };
};
