/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3) in milliseconds from now; null where there is none that can be read.
 *
 * Seconds and dates, also several headers or a joined one, of which the greatest counts. Negative numbers and past dates are zero. A
 * date is compared with the answer's own `Date` where there is one, so a wrong clock of this machine does not matter (C13, C16).
 */
export const retryAfterOf = (
  headers: readonly string[],
  answeredAt: string | undefined,
  wall: number,
): number | null => {
  const now = httpDate(answeredAt ?? '') ?? wall;
  const waits = headers
    .flatMap(separate)
    .map((value) => waitOf(value, now))
    .filter((wait) => wait !== null);
  return waits.length === 0 ? null : Math.max(...waits);
};

/** A date holds a comma too, so only lists of numbers are taken apart. */
const separate = (header: string): string[] => {
  const parts = header.split(',').map((part) => part.trim());
  return parts.every((part) => SECONDS.test(part)) ? parts : [header.trim()];
};

const SECONDS = /^[+-]?\d{1,15}(\.\d+)?$/;

const waitOf = (value: string, now: number): number | null => {
  if (SECONDS.test(value)) return Math.max(0, Number(value) * 1_000);
  const date = httpDate(value);
  return date === null ? null : Math.max(0, date - now);
};

/** Only what HTTP calls a date: `Date.parse` takes far more for one, `banana 1` among it. */
const httpDate = (value: string): number | null => {
  if (!/^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(value)) return null;
  const parsed = Date.parse(value);
  return Number.isNaN(parsed) ? null : parsed;
};
