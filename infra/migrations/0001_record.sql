-- breaking: no
-- The record: batches, ledger events, check-ins, heads and claims. Everything that is ever known about a machine is a row of
-- `event` or of `check_in`; both are written by `append` only, and nothing in them is ever changed or removed.

do $$ begin
  if not exists (select from pg_roles where rolname = 'rollcall_app') then create role rollcall_app nologin; end if;
end $$;

-- One row per append, dense and in commit order. An empty batch is a mark: the plane could have heard something then.
create table batch (
  number bigint primary key,
  recorded_at timestamptz(3) not null,
  events integer not null,
  checks integer not null
);

create table event (
  position bigint primary key,
  batch bigint not null,
  stream text collate "C" not null,
  revision integer not null check (revision > 0),
  command_id uuid not null,
  ordinal integer not null,
  event_id uuid not null unique,
  type text not null,
  at timestamptz,
  actor text not null,
  body text not null check (octet_length(body) <= 32768),
  trace text,
  unique (stream, revision),
  unique (stream, command_id, ordinal)
);
create index event_batch on event (batch);

-- Ordered so that no padding is stored: every check of every machine is one of these rows.
-- `said` is 0 for running, else 1 + the index of the stop reason. `boot_id` is the 32 random bits as a signed number.
create table check_in (
  recorded_at timestamptz(3) not null,
  batch bigint not null,
  machine uuid not null,
  check_id uuid not null,
  revision integer not null,
  generation integer not null,
  boot_counter integer not null,
  boot_id integer not null,
  sequence integer not null,
  said smallint not null,
  interval_seconds smallint not null,
  window_seconds smallint not null
) partition by range (recorded_at);
-- Both keys repeat in many rows, so the b-trees store them once and list the rows.
create index check_in_batch on check_in (batch);
create index check_in_machine on check_in (machine);

-- A cache: the fold of a stream's facts. Dropping all of it costs time, never truth. No index on what a check changes (HOT).
create table stream_head (
  stream text collate "C" primary key,
  revision integer not null,
  fold integer not null,
  last_recorded_at timestamptz(3),
  last_check_at timestamptz(3),
  state jsonb not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1);

create table claim (
  key text collate "C" primary key,
  stream text collate "C" not null,
  released boolean not null default false
);

-- One row. Readers whose checkpoint carries another epoch rebuild.
create table record_epoch (
  one boolean primary key default true check (one),
  epoch uuid not null,
  system_identifier bigint not null,
  timeline integer not null,
  since timestamptz not null default clock_timestamp()
);

-- ---- append-only ------------------------------------------------------------------------------------------------------

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the record is append-only: % on % is refused', lower(tg_op), tg_table_name using errcode = 'insufficient_privilege';
end $$;

create function guard_append_only(p_table regclass) returns void language plpgsql as $$
begin
  execute format('create trigger append_only before update or delete or truncate on %s for each statement execute function refuse_change()', p_table);
  -- Also for a session that plays a replica.
  execute format('alter table %s enable always trigger append_only', p_table);
end $$;

select guard_append_only('batch'), guard_append_only('event'), guard_append_only('check_in');

-- Makes the partitions from yesterday to `p_days` ahead, each with the guard of its own: a statement on a partition does not
-- fire the triggers of its parent. After a backward step of the wall clock the record's time is ahead of it, possibly by weeks, so
-- the days around the newest batch are covered too. There is no default partition. Answers the last day that is covered.
create function make_check_in_partitions(p_days integer default 14) returns date
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_day date;
  v_today date := (clock_timestamp() at time zone 'utc')::date;
  v_newest date := (select (b.recorded_at at time zone 'utc')::date from batch b order by b.number desc limit 1);
  v_name text;
begin
  perform pg_advisory_xact_lock(7723406, 2);
  for v_day in
    select distinct around + ahead from unnest(array[v_today, coalesce(v_newest, v_today)]) around, generate_series(-1, p_days) ahead
  loop
    v_name := 'check_in_' || to_char(v_day, 'YYYYMMDD');
    if to_regclass('public.' || v_name) is null then
      execute format('create table %I partition of check_in for values from (%L) to (%L)', v_name,
        v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
      perform guard_append_only(v_name::regclass);
      execute format('grant select on %I to rollcall_app', v_name);
    end if;
  end loop;
  return greatest(v_today, v_newest) + p_days;
end $$;
select make_check_in_partitions(14);

-- ---- epoch --------------------------------------------------------------------------------------------------------------

-- Answers the epoch; makes a new one when there is none, when the cluster is another one or on another timeline (a restore, a
-- failover), or when `p_renew` asks for it (a step of every restore).
create function confirm_epoch(p_renew boolean default false) returns uuid
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_system bigint := (select system_identifier from pg_control_system());
  v_timeline integer := (select timeline_id from pg_control_checkpoint());
  v_epoch uuid;
begin
  select epoch into v_epoch from record_epoch where system_identifier = v_system and timeline = v_timeline and not p_renew;
  if v_epoch is not null then return v_epoch; end if;
  perform pg_advisory_xact_lock(7723406, 3);
  select epoch into v_epoch from record_epoch where system_identifier = v_system and timeline = v_timeline and not p_renew;
  if v_epoch is not null then return v_epoch; end if;
  insert into record_epoch (epoch, system_identifier, timeline) values (gen_random_uuid(), v_system, v_timeline)
  on conflict (one) do update set epoch = excluded.epoch, system_identifier = excluded.system_identifier,
    timeline = excluded.timeline, since = clock_timestamp()
  returning epoch into v_epoch;
  return v_epoch;
end $$;
select confirm_epoch();

-- ---- append -------------------------------------------------------------------------------------------------------------

-- Records one batch in one call that is its own transaction. The arrays are parallel: `s_` one entry per stream (an item), `e_`
-- per ledger event, `c_` per check-in, `k_` per claim; `…_item` points to the stream's place, from 1.
--
-- Order of locks: heads that are new (sorted), all heads (sorted), then the record. A head that was inserted under the record's lock
-- would deadlock. Every statement below sees what was committed before it began (READ COMMITTED), so the comparisons after the
-- lock are made on the truth. It never raises for a conflict: an item's neighbours must not fall with it.
--
-- `w_known`, `w_elapsed_ms`: the newest batch time that the writer has seen, and how long ago by its own steady clock. They carry
-- the record's time on after the wall clock was set back.
-- `w_mark_after_ms`: with no items, append an empty batch if the newest one is at least this old. It says that a check could have
-- been recorded, so it fails as a check would where its day has no partition.
--
-- Answers one code per item: `ok`, `conflict` (the head has moved) or `claim:<key>` (another stream holds the key). `batch` is
-- null when nothing was recorded.
create function append(
  s_stream text[], s_expected integer[], s_revision integer[], s_fold integer[], s_fresh boolean[], s_checked boolean[], s_state text[],
  e_item integer[], e_revision integer[], e_command uuid[], e_ordinal integer[], e_id uuid[], e_type text[], e_at timestamptz[],
  e_actor text[], e_body text[], e_trace text[],
  c_item integer[], c_revision integer[], c_machine uuid[], c_check_id uuid[], c_generation integer[], c_boot_counter integer[],
  c_boot_id integer[], c_sequence integer[], c_said smallint[], c_interval smallint[], c_window smallint[],
  k_item integer[], k_key text[], k_release boolean[],
  w_known timestamptz, w_elapsed_ms double precision, w_mark_after_ms integer,
  out batch bigint, out recorded_at timestamptz, out codes text[]
) language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_items integer := coalesce(cardinality(s_stream), 0);
  v_inserted text[];
  v_ok boolean[];
  v_all boolean;
  v_recorded integer[];
  v_heard timestamptz[];
  v_number bigint;
  v_before timestamptz;
  v_clock timestamptz;
  v_position bigint;
  v_events integer := coalesce(cardinality(e_item), 0);
  v_checks integer := coalesce(cardinality(c_item), 0);
begin
  -- In any other mode the comparisons below would be made on what was true before the lock.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'append needs read committed' using errcode = 'invalid_transaction_state';
  end if;

  if true = any (s_fresh) then
    with made as (
      insert into stream_head (stream, revision, fold, state)
      -- In its full size at once, so that its page keeps room for the updates to come.
      select s.stream, s.expected, s.fold, s.state::jsonb
      from unnest(s_stream, s_expected, s_fold, s_fresh, s_state) s(stream, expected, fold, fresh, state)
      where s.fresh order by s.stream collate "C"
      on conflict (stream) do nothing
      returning stream
    )
    select array_agg(stream) into v_inserted from made;
  end if;

  if v_items > 0 then
    perform 1 from stream_head h where h.stream = any (s_stream) order by h.stream for no key update;
  end if;

  -- What the facts say of streams without a head. Long for a machine with a past, so before the lock: the heads are ours, so nobody
  -- else can write to these streams any more.
  if true = any (s_fresh) then
    select array_agg(case when s.fresh then recorded_revision(s.stream) end order by s.n),
      array_agg(case when s.fresh and not s.checked then recorded_last_check(s.stream) end order by s.n)
    into v_recorded, v_heard
    from unnest(s_stream, s_fresh, s_checked) with ordinality s(stream, fresh, checked, n);
  end if;

  perform pg_advisory_xact_lock(7723406, 1);

  select b.number, b.recorded_at into v_number, v_before from batch b order by b.number desc limit 1;
  v_clock := date_trunc('milliseconds', clock_timestamp());
  if v_before is null then
    recorded_at := v_clock;
  elsif v_clock >= v_before then
    recorded_at := v_clock;
  else
    recorded_at := greatest(v_before, date_trunc('milliseconds', w_known + w_elapsed_ms * interval '1 millisecond'));
  end if;

  if v_items = 0 then
    if v_before is null or recorded_at - v_before >= w_mark_after_ms * interval '1 millisecond' then
      if to_regclass('public.check_in_' || to_char(recorded_at at time zone 'utc', 'YYYYMMDD')) is null then
        raise exception 'no partition of check_in for %', recorded_at using errcode = 'check_violation';
      end if;
      batch := coalesce(v_number, 0) + 1;
      insert into batch (number, recorded_at, events, checks) values (batch, recorded_at, 0, 0);
    else
      batch := null;
    end if;
    codes := '{}';
    return;
  end if;

  select array_agg(code order by n), array_agg(code = 'ok' order by n), bool_and(code = 'ok')
  into codes, v_ok, v_all
  from (
    select s.n,
      case
        when h.revision is distinct from s.expected then 'conflict'
        when s.fresh and s.expected <> v_recorded[s.n] then 'conflict'
        when k.key is not null then 'claim:' || k.key
        else 'ok'
      end as code
    from unnest(s_stream, s_expected, s_fresh) with ordinality s(stream, expected, fresh, n)
    left join stream_head h on h.stream = s.stream
    left join lateral (
      select t.key
      from unnest(k_item, k_key, k_release) t(item, key, release)
      join claim held on held.key = t.key
      where t.item = s.n and ((not t.release and not held.released and held.stream <> s.stream)
        or (t.release and held.stream <> s.stream))
      order by t.key limit 1
    ) k on true
  ) judged;

  if not v_all then
    v_events := (select count(*) from unnest(e_item) item where v_ok[item]);
    v_checks := (select count(*) from unnest(c_item) item where v_ok[item]);
    if v_inserted is not null then
      delete from stream_head h using unnest(s_stream) with ordinality s(stream, n)
      where h.stream = s.stream and not v_ok[s.n] and h.stream = any (v_inserted);
    end if;
    if not (true = any (v_ok)) then
      batch := null;
      return;
    end if;
  end if;

  batch := coalesce(v_number, 0) + 1;
  insert into batch (number, recorded_at, events, checks) values (batch, recorded_at, v_events, v_checks);

  if v_events > 0 then
    v_position := coalesce((select e.position + 1 from event e order by e.position desc limit 1), 0);
    insert into event (position, batch, stream, revision, command_id, ordinal, event_id, type, at, actor, body, trace)
    select v_position + row_number() over (order by s_stream[e.item] collate "C", e.revision) - 1,
      batch, s_stream[e.item], e.revision, e.command, e.ordinal, e.id, e.type, e.at, e.actor, e.body, e.trace
    from unnest(e_item, e_revision, e_command, e_ordinal, e_id, e_type, e_at, e_actor, e_body, e_trace)
      e(item, revision, command, ordinal, id, type, at, actor, body, trace)
    where v_ok[e.item];
  end if;

  if v_checks > 0 then
    insert into check_in (recorded_at, batch, machine, check_id, revision, generation, boot_counter, boot_id, sequence, said,
      interval_seconds, window_seconds)
    select recorded_at, batch, c.machine, c.check_id, c.revision, c.generation, c.boot_counter, c.boot_id, c.sequence, c.said,
      c.interval_seconds, c.window_seconds
    from unnest(c_item, c_revision, c_machine, c_check_id, c_generation, c_boot_counter, c_boot_id, c_sequence, c_said, c_interval, c_window)
      c(item, revision, machine, check_id, generation, boot_counter, boot_id, sequence, said, interval_seconds, window_seconds)
    where v_ok[c.item];
  end if;

  if coalesce(cardinality(k_item), 0) > 0 then
    insert into claim (key, stream, released)
    select k.key, s_stream[k.item], k.release
    from unnest(k_item, k_key, k_release) k(item, key, release)
    where v_ok[k.item]
    on conflict (key) do update set stream = excluded.stream, released = excluded.released;
  end if;

  update stream_head h
  set revision = s.revision, fold = s.fold, state = s.state::jsonb, last_recorded_at = recorded_at,
    last_check_at = case when s.checked then recorded_at when s.fresh then v_heard[s.n] else h.last_check_at end
  from unnest(s_stream, s_revision, s_fold, s_fresh, s_checked, s_state) with ordinality s(stream, revision, fold, fresh, checked, state, n)
  where h.stream = s.stream and v_ok[s.n];
end $$;

-- The newest recorded revision of a stream, from the facts and not from its head.
create function recorded_revision(p_stream text) returns integer language sql stable as $$
  select greatest(
    coalesce((select e.revision from event e where e.stream = p_stream order by e.revision desc limit 1), 0),
    case when p_stream like 'machine-%' then
      coalesce((select max(c.revision) from check_in c where c.machine = substr(p_stream, 9)::uuid), 0) else 0 end
  )
$$;

-- A head that was folded anew is put back with the time of the machine's last check, which a check normally carries along.
create function recorded_last_check(p_stream text) returns timestamptz language sql stable as $$
  select case when p_stream like 'machine-%' then
    (select max(c.recorded_at) from check_in c where c.machine = substr(p_stream, 9)::uuid) end
$$;

-- ---- rights -------------------------------------------------------------------------------------------------------------

revoke all on function append, confirm_epoch, make_check_in_partitions, guard_append_only from public;
grant execute on function append, confirm_epoch, make_check_in_partitions, recorded_revision, recorded_last_check to rollcall_app;
grant usage on schema public to rollcall_app;
grant select on batch, event, check_in, stream_head, claim, record_epoch to rollcall_app;
