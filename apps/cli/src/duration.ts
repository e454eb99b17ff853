const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/**
 * Reads a duration such as `90s`, `15m`, `1h30m` or `1d` as seconds.
 *
 * @throws RangeError with the rule in one sentence: it is not of this form, or not within the bounds (seconds).
 */
export const parseDuration = (text: string, bounds: { readonly least: number; readonly most: number }): number => {
  const rule = `a duration from ${formatDuration(bounds.least)} to ${formatDuration(bounds.most)}, such as 90s, 15m or 1h30m`;
  if (!/^(\d{1,6}[smhd])+$/.test(text)) throw new RangeError(`must be ${rule}`);
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)([smhd])/g)) seconds += Number(amount) * (UNITS[unit ?? ''] ?? 0);
  if (seconds < bounds.least || seconds > bounds.most) throw new RangeError(`must be ${rule}`);
  return seconds;
};

/** Writes whole seconds in the largest units that leave nothing over: 5400 is `1h30m`. */
export const formatDuration = (seconds: number): string => {
  let rest = seconds;
  let text = '';
  for (const [unit, size] of Object.entries(UNITS).toReversed()) {
    const amount = Math.floor(rest / size);
    if (amount > 0) text += `${amount}${unit}`;
    rest -= amount * size;
  }
  return text === '' ? '0s' : text;
};
