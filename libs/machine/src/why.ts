import { timestampOf, type Instant } from '@rollcall/decider';
import { blockerOf } from './blockers.js';
import type { Said, StopReason } from './facts.js';
import type { Lifecycle } from './lifecycle.js';
import type { Gap, Presence } from './presence.js';
import { silenceBegan } from './presence.js';
import { isPlanesWord, PAUSED } from './readiness.js';
import type { OlderUse } from './refusals.js';

/** What is known of a machine at one time of the record: from then on it is, and stays, the same. */
export type KnownThen = {
  /** The time of the newest ear until then. */
  readonly heardUntil: Instant;
  /** The time that is asked about, where the plane had been deaf for too long by then to know; else null. */
  readonly deafUntil: Instant | null;
  readonly admittedAt: Instant;
  readonly deletedAt: Instant | null;
  readonly presence: Presence;
  readonly lifecycle: Lifecycle | null;
  readonly said: Said | null;
  readonly stopReason: StopReason | null;
  readonly lastCheckAt: Instant | null;
  /** Seconds; null before the first check. */
  readonly window: number | null;
  /** Since when an absence is recorded; null without one. */
  readonly absentSince: Instant | null;
  /** The times since its last check, or since its admission, in which the plane was deaf, ascending. */
  readonly gaps: readonly Gap[];
  /** What stands, a person's pause among it. */
  readonly blockers: readonly { readonly code: string; readonly since: Instant }[];
  readonly pause: { readonly note: string; readonly until: Instant | null } | null;
  /** Refused claims on its identifier, as one (C03). */
  /** An older credential is in somebody's hands. */
  readonly olderUse: OlderUse | null;
  readonly refusedClaims: { readonly count: number; readonly last: Instant; readonly hostname: string | null } | null;
  readonly promise: { readonly state: 'held' | 'broken' | 'not-now'; readonly schedules: readonly string[] } | null;
};

/**
 * Why a machine is what it is, in one sentence without its subject: its presence and what that rests on, what it had said, what keeps it from
 * work, what was promised, and when the plane could not have heard it (B5). Times are those of the record in UTC, with the day where that is
 * not the day of the answer.
 */
export const why = (known: KnownThen): string => {
  const at = clockOn(known.heardUntil);
  if (known.deletedAt !== null) return `deleted at ${at(known.deletedAt)}: its credential never acts again`;
  return [
    presenceIn(known, at),
    ...readinessIn(known, at),
    ...olderUseIn(known, at),
    ...claimsIn(known, at),
    ...promiseIn(known),
    ...deafnessIn(known, at),
  ].join('; ');
};

type Clock = (instant: Instant) => string;

const clockOn =
  (today: Instant): Clock =>
  (instant) => {
    const [day, time] = timestampOf(instant).slice(0, 19).split('T') as [string, string];
    return timestampOf(today).startsWith(day) ? `${time}Z` : `${day} ${time}Z`;
  };

const presenceIn = (known: KnownThen, at: Clock): string => {
  const { lastCheckAt, window, lifecycle, stopReason } = known;
  if (known.presence === 'not-yet-arrived' || lastCheckAt === null || window === null)
    return `admitted at ${at(known.admittedAt)}, and has not checked in yet`;
  const reason = stopReason === null ? '' : ` (${stopReason})`;
  const { began, due } = silenceIn(known, lastCheckAt, window);
  if (known.presence === 'present')
    return lifecycle === 'stopping'
      ? `present, and about to stop${reason}: it said so at ${at(lastCheckAt)}, and counts as stopped if nothing more is heard of it by ${at(due)}`
      : `present: it checked in at ${at(lastCheckAt)}, and said that it runs`;
  const counted =
    began === lastCheckAt
      ? `after the last check at ${at(lastCheckAt)}`
      : `after the plane listened again at ${at(began)}, the last check was at ${at(lastCheckAt)}`;
  const cause =
    lifecycle === 'stopped'
      ? `it had said that it would stop${reason}, so it is stopped on purpose`
      : 'it had said running, so the cause is unknown';
  return `absent since ${at(due)} (window ${window} s ${counted}); ${cause}`;
};

/** From when on its silence counted, and when that became an absence, or becomes one. */
const silenceIn = (
  { absentSince, gaps }: KnownThen,
  lastCheckAt: Instant,
  window: number,
): { readonly began: Instant; readonly due: Instant } => {
  if (absentSince !== null) return { began: absentSince - window * 1_000, due: absentSince };
  const began = silenceBegan(lastCheckAt, gaps.at(-1)?.until ?? null);
  return { began, due: began + window * 1_000 };
};

const readinessIn = ({ presence, lifecycle, blockers, pause }: KnownThen, at: Clock): readonly string[] => {
  const told = blockers.map(({ code, since }) => {
    const { sentence, blocksWork } = blockerOf(code);
    const end = code === PAUSED && pause !== null ? pausedUntil(pause, at) : '';
    return { code, blocksWork, text: `${sentence} (${code}) since ${at(since)}${end}` };
  });
  const texts = (wanted: (one: (typeof told)[number]) => boolean): string =>
    told
      .filter(wanted)
      .map(({ text }) => text)
      .join(', ');
  if (presence === 'present' && lifecycle === 'running') {
    const [blocking, remarks] = [texts((one) => one.blocksWork), texts((one) => !one.blocksWork)];
    return [
      blocking === '' ? 'nothing keeps it from work' : `it cannot take work: ${blocking}`,
      ...(remarks === '' ? [] : [`note: ${remarks}`]),
    ];
  }
  // What it said is as old as its last word; what the plane says itself is not.
  const [said, known] = [texts(({ code }) => !isPlanesWord(code)), texts(({ code }) => isPlanesWord(code))];
  return [...(said === '' ? [] : [`the last that it told: ${said}`]), ...(known === '' ? [] : [known])];
};

const pausedUntil = ({ note, until }: NonNullable<KnownThen['pause']>, at: Clock): string =>
  `${until === null ? '' : ` until ${at(until)}`}: "${note}"`;

const promiseIn = ({ presence, promise }: KnownThen): readonly string[] => {
  if (promise === null || promise.state === 'held') return [];
  if (promise.state === 'broken') return [`its presence is promised at this time (${promise.schedules.join(', ')})`];
  return presence === 'absent' ? ['its presence is not promised at this time'] : [];
};

const olderUseIn = ({ olderUse }: KnownThen, at: Clock): readonly string[] => {
  if (olderUse === null) return [];
  const which = olderUse.generation === null ? '' : ` (generation ${olderUse.generation})`;
  return [
    `an older credential of it${which} was used at ${at(olderUse.at)}, and refused: if whoever holds that is the right installation, delete the machine and enrol it again`,
  ];
};

/** The name is that of somebody who is not known: it is quoted. */
const claimsIn = ({ refusedClaims }: KnownThen, at: Clock): readonly string[] => {
  if (refusedClaims === null) return [];
  const { count, last, hostname } = refusedClaims;
  const who = hostname === null ? '' : `, by one that calls itself "${hostname}"`;
  return count === 1
    ? [`a claim of another installation to be this one was refused at ${at(last)}${who}`]
    : [`claims of others to be this installation were refused ${count} times, last at ${at(last)}${who}`];
};

/** How many gaps are told one by one. */
const MOST_GAPS = 3;

const deafnessIn = ({ presence, gaps, heardUntil, deafUntil }: KnownThen, at: Clock): readonly string[] => {
  const told = gaps.slice(-MOST_GAPS).map(({ from, until }) => `from ${at(from)} to ${at(until)}`);
  const before = gaps.length > MOST_GAPS ? [`${gaps.length - MOST_GAPS} times before`] : [];
  const deaf = deafUntil === null ? [] : [`from ${at(heardUntil)} on, until ${at(deafUntil)} at least`];
  const all = [...before, ...told, ...deaf];
  if (all.length > 0) return [`the plane was not listening ${all.join(', and ')}`];
  return presence === 'absent' ? ['the plane was listening throughout'] : [];
};
