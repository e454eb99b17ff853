import type { Finding, Invariant } from '../finding.js';

/** I14: nobody is called absent who was heard, or whom the plane could not have heard (O22, B1). */
export const silences: Invariant = {
  id: 'I14',
  promise:
    'an absence follows a window without a check in which the plane listened, once per silence, and the next check ends it',
  judge: async ({ rows, gapSeconds }): Promise<Finding> => {
    const [count] = await rows<{ count: string }>(
      `select count(*)::text as count from event where type in ('WentAbsent', 'Returned')`,
    );
    const sentences = [
      ...(await rows<{ sentence: string }>(UNTRUE, [gapSeconds])),
      ...(await rows<{ sentence: string }>(UNENDED)),
      ...(await rows<{ sentence: string }>(MISHEARD)),
    ];
    return { examined: Number(count?.count ?? 0), broken: sentences.map(({ sentence }) => sentence) };
  },
};

const UNTRUE = `
  with gap as materialized (
    select until, false as earlier from (
      select recorded_at as until, lag(recorded_at) over (order by number) as since from batch where checks > 0 or events = 0
    ) ear where until - since > $1 * interval '1 second'
    union all
    -- The versions before took any batch for an ear.
    select until, true from (
      select recorded_at as until, lag(recorded_at) over (order by number) as since from batch
    ) any_batch where until - since > $1 * interval '1 second'
  ), absence as (
    select e.stream, e.revision, b.recorded_at, b.heard_before as listened, (e.body::jsonb ->> 'lastCheckAt')::timestamptz as last_check,
      (e.body::jsonb ->> 'dueAt')::timestamptz as due,
      (e.body::jsonb ->> 'dueAt')::timestamptz - (e.body::jsonb ->> 'window')::integer * interval '1 second' as began,
      c.recorded_at as heard
    from event e join batch b on b.number = e.batch
    left join lateral (
      select c.recorded_at from check_in c
      where c.machine = substr(e.stream, 9)::uuid and c.revision < e.revision order by c.revision desc limit 1
    ) c on true
    where e.type = 'WentAbsent'
  )
  select format('%s is recorded as absent at revision %s since %s: %s', stream, revision, due, case
    when heard is distinct from last_check then format('its last check was at %s, not at %s', coalesce(heard::text, 'no time'), last_check)
    when recorded_at <= due then format('that was recorded at %s already', recorded_at)
    when listened <= due then format('until then the plane had listened until %s only', listened)
    when began < last_check then 'its window was not over'
    when began > last_check and not exists (select from gap where until = began and earlier = (listened is null))
      then format('its silence counts from %s, when nothing began', began)
    else 'the plane was deaf in its window' end) as sentence
  from absence
  where heard is distinct from last_check or recorded_at <= due or listened <= due or began < last_check
    or (began > last_check and not exists (select from gap where until = began and earlier = (listened is null)))
    or exists (select from gap where until > began and until <= due and earlier = (listened is null))`;

const UNENDED = `
  with told as (
    select stream, revision, type, lag(type) over (partition by stream order by revision) as before from (
      select stream, revision, type from event where type in ('WentAbsent', 'Returned')
      union all
      select 'machine-' || machine, revision, 'CheckedIn' from check_in
      where 'machine-' || machine in (select stream from event where type = 'WentAbsent')
    ) f
  )
  select format('%s has %s at revision %s after %s', stream, type, revision, coalesce(before, 'nothing')) as sentence
  from told
  where (type = 'WentAbsent' and before is distinct from 'CheckedIn')
    or (type = 'Returned' and before is distinct from 'WentAbsent')
    or (type = 'CheckedIn' and before = 'WentAbsent')`;

// Batches of the versions before do not say it.
const MISHEARD = `
  select format('batch %s says that the newest ear before it was at %s, and that was at %s', number,
    coalesce(heard_before::text, 'no time'), coalesce(ear::text, 'no time')) as sentence
  from (
    select number, heard_before,
      max(recorded_at) filter (where checks > 0 or events = 0) over before as ear, max(heard_before) over before as said
    from batch window before as (order by number rows between unbounded preceding and 1 preceding)
  ) b
  where heard_before is distinct from ear and (heard_before is not null or said is not null)`;
