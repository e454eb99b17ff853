import type { Presence } from '@rollcall/machine';
import type { LifecycleWord } from '@rollcall/wire';
import { sql, type RawBuilder } from 'kysely';
import type { HeardSoFar, Wanted } from './condition.js';

/**
 * What a database can leave out of an answer without knowing the rules of presence and lifecycle: each of these holds for every row that the rules
 * find to be as wanted. They may hold for more, and then the rules decide.
 */
export const sieveOf = (
  { presence, lifecycle, blocked }: Wanted,
  heard: HeardSoFar,
): readonly RawBuilder<boolean>[] => [
  ...(presence === undefined ? [] : here(presence, heard)),
  ...(lifecycle === undefined ? [] : living(lifecycle, heard)),
  ...(blocked === true ? here('present', heard) : []),
];

const here = (presence: Presence, { until, gapEnd }: HeardSoFar): readonly RawBuilder<boolean>[] => {
  if (presence === 'not-yet-arrived') return [sql<boolean>`last_check_at is null`];
  const arrived = sql<boolean>`last_check_at is not null`;
  // As long as nothing was heard, each row has a present of its own.
  if (until === null) return [arrived];
  const line = sql`greatest(last_check_at, ${timeOf(gapEnd)}) + coalesce(window_seconds, 0) * interval '1 second'`;
  return presence === 'present'
    ? [arrived, sql<boolean>`absent_since is null`, sql<boolean>`${line} >= ${timeOf(until)}`]
    : [arrived, sql<boolean>`(absent_since is not null or ${line} <= ${timeOf(until)})`];
};

const timeOf = (instant: number | null): RawBuilder<unknown> =>
  sql`${instant === null ? null : new Date(instant).toISOString()}::timestamptz`;

/** What a machine said last, and whether it is still heard from, where it is like that. */
const WORDS = {
  running: ['running', 'present'],
  unknown: ['running', 'absent'],
  stopping: ['stopping', 'present'],
  stopped: ['stopping', 'absent'],
} as const;

const living = (lifecycle: LifecycleWord, heard: HeardSoFar): readonly RawBuilder<boolean>[] => {
  if (lifecycle === 'deleted') return [sql<boolean>`deleted_at is not null`];
  const [said, presence] = WORDS[lifecycle];
  return [sql<boolean>`said = ${said}`, ...here(presence, heard)];
};
