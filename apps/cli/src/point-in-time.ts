const FORM = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Reads a time as RFC 3339 has it or as this tool prints it, `2026-11-29 14:02:10Z`: in UTC unless it has an offset, and midnight where only
 * a day is given.
 *
 * @throws RangeError with the rule in one sentence
 */
export const parsePointInTime = (text: string): string => {
  const [, day = '', time = '00:00', offset = 'Z'] = FORM.exec(text) ?? [];
  const midnight = new Date(`${day}T00:00Z`);
  const instant = Date.parse(`${day}T${time}${offset}`);
  // The thirtieth of February would be read as a day of March.
  if (Number.isNaN(instant) || !midnight.toISOString().startsWith(day))
    throw new RangeError('must be a time such as 2026-11-29T14:02:10Z or "2026-11-29 14:02" (UTC)');
  return new Date(instant).toISOString();
};
