-- breaking: yes
-- What the plane hears by: a batch that holds a check-in, or nothing at all (a mark), is an ear, because machines could have been heard at its
-- time. Any other batch, of a person's act or of a projector, proves nothing of the kind. Breaking, because an older projector would go on
-- counting silence by those.

-- The order of locks is that of an append that waits: first the record, then its tables.
select pg_advisory_xact_lock(7723406, 1);

-- The time of the newest ear before this batch; null before the first, and in batches of the versions before.
alter table batch add column heard_before timestamptz(3);

-- The ears that ended a pause which could be a time of deafness: few, however long the record is.
create index batch_ended_pause on batch (number)
  where (checks > 0 or events = 0) and recorded_at - heard_before > interval '10 seconds';

-- The same of the batches that lie before this migration, which are never changed. The one without an end is open: it begins at the newest ear
-- of that time.
create table earlier_pause (
  batch bigint unique,
  since timestamptz(3) not null,
  until timestamptz(3)
);
insert into earlier_pause (batch, since, until)
select number, since, recorded_at from (
  select number, recorded_at, lag(recorded_at) over (order by number) as since from batch where checks > 0 or events = 0
) ear where recorded_at - since > interval '10 seconds';
insert into earlier_pause (since)
select recorded_at from batch where checks > 0 or events = 0 order by number desc limit 1;
select guard_append_only('earlier_pause');
grant select on earlier_pause to rollcall_app;

-- The time of the newest ear until a batch, which is itself one of them if it is an ear; null before the first.
create function heard_until(p_batch bigint) returns timestamptz language sql stable as $$
  select coalesce(
    case when b.checks > 0 or b.events = 0 then b.recorded_at else b.heard_before end,
    (select e.recorded_at from batch e where e.number < b.number and (e.checks > 0 or e.events = 0) order by e.number desc limit 1))
  from batch b where b.number = p_batch
$$;
revoke all on function heard_until(bigint) from public;
grant execute on function heard_until(bigint) to rollcall_app;

-- As in 0007_trace, but a batch says when the plane was heard by before it, and a mark is due when the newest ear is old, not the newest batch.
create or replace function append(
  s_stream text[], s_expected integer[], s_revision integer[], s_fold integer[], s_fresh boolean[], s_checked boolean[], s_state text[],
  e_item integer[], e_revision integer[], e_command uuid[], e_ordinal integer[], e_id uuid[], e_type text[], e_at timestamptz[],
  e_actor text[], e_body text[], e_trace text[],
  c_item integer[], c_revision integer[], c_machine uuid[], c_check_id uuid[], c_generation integer[], c_boot_counter integer[],
  c_boot_id integer[], c_sequence integer[], c_said smallint[], c_interval smallint[], c_window smallint[],
  k_item integer[], k_key text[], k_release boolean[],
  w_known timestamptz, w_elapsed_ms double precision, w_mark_after_ms integer, w_trace text,
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
  v_ear timestamptz;
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

  select b.number, b.recorded_at, case when b.checks > 0 or b.events = 0 then b.recorded_at
    else coalesce(b.heard_before, (select p.since from earlier_pause p where p.until is null)) end
  into v_number, v_before, v_ear from batch b order by b.number desc limit 1;
  v_clock := date_trunc('milliseconds', clock_timestamp());
  if v_before is null then
    recorded_at := v_clock;
  elsif v_clock >= v_before then
    recorded_at := v_clock;
  else
    recorded_at := greatest(v_before, date_trunc('milliseconds', w_known + w_elapsed_ms * interval '1 millisecond'));
  end if;

  if v_items = 0 then
    if v_ear is null or recorded_at - v_ear >= w_mark_after_ms * interval '1 millisecond' then
      if to_regclass('public.check_in_' || to_char(recorded_at at time zone 'utc', 'YYYYMMDD')) is null then
        raise exception 'no partition of check_in for %', recorded_at using errcode = 'check_violation';
      end if;
      batch := coalesce(v_number, 0) + 1;
      insert into batch (number, recorded_at, events, checks, heard_before) values (batch, recorded_at, 0, 0, v_ear);
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
  insert into batch (number, recorded_at, events, checks, trace, heard_before)
  values (batch, recorded_at, v_events, v_checks, w_trace, v_ear);

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

-- They have counted silence by other batches too.
update read_model set rebuild_requested = true where checkpoint > 0;
