import { useEffect, useState } from 'preact/hooks';

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** How long ago, in a person's words; seconds only up to a minute, where they say something. */
export const ago = (at: string, now: number): string => {
  const seconds = Math.min(0, Math.round((Date.parse(at) - now) / 1_000));
  const [unit, length] = UNITS.find(([, each]) => -seconds >= each) ?? (['second', 1] as const);
  return relative.format(Math.ceil(seconds / length), unit);
};

/** The time of this computer, which tells how long ago something was and decides nothing. */
export const useNow = (everyMs = 5_000): number => {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
};

/** A time, as long ago; the time itself for whoever points at it. */
export const Ago = ({ at, now }: { readonly at: string | null; readonly now: number }) =>
  at === null ? (
    <span class="faint">never</span>
  ) : (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {ago(at, now)}
    </time>
  );
