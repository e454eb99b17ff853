const STEPS: readonly (readonly [unit: string, seconds: number])[] = [
  ['day', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];

/**
 * How long before `asOf` something was, for people: `12 s ago`, `3 min ago`. Both are times of the plane's record, so a wrong
 * clock on the operator's computer changes nothing.
 */
export const relativeTime = (at: string | null, asOf: string | null): string => {
  if (at === null) return 'never';
  if (asOf === null) return clockTime(at);
  const seconds = Math.floor((Date.parse(asOf) - Date.parse(at)) / 1000);
  return seconds < 1 ? 'just now' : `${lasting(seconds)} ago`;
};

/** How many seconds something lasted, for people: `12 s`, `3 min`, `2 days`. */
export const lasting = (seconds: number): string => {
  const [unit, size] = STEPS.find(([, length]) => seconds >= length) ?? ['s', 1];
  const amount = Math.floor(seconds / size);
  return `${amount} ${unit === 'day' && amount > 1 ? 'days' : unit}`;
};

/** A time of the record to the second, in UTC: `2026-11-29 14:02:10Z`. */
export const clockTime = (at: string): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;
