// One SQL family per constant, so that a reviewer reads what runs.

/**
 * Heads, holders and repetitions of up to a thousand questions in one snapshot. Each is looked up by its key, which the `limit`s make sure
 * of: a plan that was made on tables which nobody had analysed yet would read all of them, for as long as the session lives.
 */
export const ASK = `
select coalesce(q.stream, k.stream) as stream, h.revision, h.fold, h.last_check_at, h.state,
  h.stream is null and (select true from event e where e.stream = coalesce(q.stream, k.stream) limit 1) is not null as lost,
  q.command is not null
    and (select true from event e where e.stream = coalesce(q.stream, k.stream) and e.command_id = q.command limit 1) is not null as repeated,
  greatest(date_trunc('milliseconds', clock_timestamp()), (select b.recorded_at from batch b order by b.number desc limit 1)) as now
from unnest($1::text[], $2::text[], $3::uuid[]) with ordinality q(stream, key, command, n)
left join lateral (select c.stream from claim c where c.key = q.key and not c.released limit 1) k on true
left join lateral (select s.* from stream_head s where s.stream = coalesce(q.stream, k.stream) limit 1) h on true
order by q.n`;

const ARGUMENTS = `(
  $1::text[], $2::integer[], $3::integer[], $4::integer[], $5::boolean[], $6::boolean[], $7::text[],
  $8::integer[], $9::integer[], $10::uuid[], $11::integer[], $12::uuid[], $13::text[], $14::timestamptz[], $15::text[], $16::text[], $17::text[],
  $18::integer[], $19::integer[], $20::uuid[], $21::uuid[], $22::integer[], $23::integer[], $24::integer[], $25::integer[],
  $26::smallint[], $27::smallint[], $28::smallint[],
  $29::integer[], $30::text[], $31::boolean[],
  $32::timestamptz, $33::double precision, $34::integer, $35::text)`;

export const APPEND = `
select batch, recorded_at, codes from append${ARGUMENTS}`;

/** The same, of all items or of none. */
export const APPEND_WHOLE = `
select batch, recorded_at, codes from append_whole${ARGUMENTS}`;

export const BATCHES = `select number, recorded_at, events, checks, trace from batch where number > $1 order by number limit $2`;

const EVENT_COLUMNS = `
  e.position, e.batch, e.stream, e.revision, e.command_id, e.ordinal, e.event_id, e.type, e.actor, e.body`;

export const EVENTS_OF_BATCHES = `
select ${EVENT_COLUMNS} from event e where e.batch between $1 and $2 order by e.position`;

const CHECK_COLUMNS = `
  c.batch, c.recorded_at, c.machine, c.check_id, c.revision, c.generation, c.boot_counter, c.boot_id, c.sequence, c.said,
  c.interval_seconds, c.window_seconds`;

/** The times prune the partitions. */
export const CHECKS_OF_BATCHES = `
select ${CHECK_COLUMNS} from check_in c
where c.batch between $1 and $2 and c.recorded_at between $3 and $4`;

export const EVENTS_OF_STREAM = `
select ${EVENT_COLUMNS}, b.recorded_at from event e join batch b on b.number = e.batch where e.stream = $1 order by e.revision`;

export const CHECKS_OF_MACHINE = `
select ${CHECK_COLUMNS} from check_in c where c.machine = $1 order by c.revision`;

export const EVENTS_OF_STREAM_AFTER = `
select ${EVENT_COLUMNS}, b.recorded_at from event e join batch b on b.number = e.batch
where e.stream = $1 and e.revision > $2 order by e.revision limit $3`;

/** The times prune the partitions. */
export const CHECKS_OF_MACHINE_AFTER = `
select ${CHECK_COLUMNS} from check_in c
where c.machine = $1 and c.recorded_at >= $2 and c.recorded_at < $3 and c.revision > $4 order by c.revision limit $5`;

/** Looked for among the numbers, whose order is that of the times: no time is indexed. */
export const BATCH_AT = `
with recursive search(lo, hi) as (
  select 0::bigint, coalesce((select number from batch order by number desc limit 1), 0)
  union all
  select case when b.recorded_at <= $1 then b.number else s.lo end, case when b.recorded_at <= $1 then s.hi else b.number - 1 end
  from search s join batch b on b.number = (s.lo + s.hi + 1) / 2
  where s.lo < s.hi)
select b.number, b.recorded_at, heard_until(b.number) as heard_until from search s join batch b on b.number = s.lo where s.lo = s.hi`;

/** All of them, or the newest of a type. */
export const EVENTS_OF_STREAM_UNTIL = `
select newest.* from (
  select ${EVENT_COLUMNS}, b.recorded_at from event e join batch b on b.number = e.batch
  where e.stream = $1 and e.batch <= $2 and ($3::text is null or e.type = $3) order by e.revision desc limit $4) newest
order by newest.revision`;

/** The types are those of the index `event_admission`, which finds them. */
export const ADMISSIONS_BY = `
select ${EVENT_COLUMNS}, b.recorded_at from event e join batch b on b.number = e.batch
where e.actor = $1 and e.type in ('TokenIssued', 'CodeApproved') and e.batch > $2 order by e.position`;

/** The times prune the partitions. */
export const NEWEST_CHECK_OF_MACHINE = `
select ${CHECK_COLUMNS} from check_in c
where c.machine = $1 and c.recorded_at > $2 and c.recorded_at <= $3 order by c.revision desc limit 1`;

const gapsAmong = (pauses: string) => `
select batch, since, until from (
  select number as batch, heard_before as since, recorded_at as until from batch where ${pauses}
  union all
  select batch, since, until from earlier_pause where until is not null
) pause
where until - since > $1 * interval '1 second' and since >= $2 and since < coalesce($3, 'infinity'::timestamptz) and until > $4
order by batch limit $5`;

const EARS = '(checks > 0 or events = 0)';
/** For gaps of ten seconds and more: their index is of pauses of that length. */
export const GAPS = gapsAmong(`${EARS} and recorded_at - heard_before > interval '10 seconds'`);
/** For the gaps of tests, which cannot wait so long: looks at every batch. */
export const SHORT_GAPS = gapsAmong(EARS);

export const NEWEST = `select number, recorded_at from batch order by number desc limit 1`;
/** Each by its key, see `ASK`. A key that is asked for twice is answered twice. */
export const HOLDERS = `
select k.stream, k.released from unnest($1::text[]) with ordinality q(key, n)
left join lateral (select c.stream, c.released from claim c where c.key = q.key limit 1) k on true
order by q.n`;
export const EPOCH = `select confirm_epoch() as epoch`;
export const RENEW_EPOCH = `select confirm_epoch(true) as epoch`;
export const BATCH_OF_EVENT = `select batch from event where position = $1`;
export const PARTITIONS = `select (make_check_in_partitions() + 1)::text as until`;

export const CHANNEL = 'rollcall_appended';
export const NOTIFY = `select pg_notify('${CHANNEL}', $1)`;
