-- breaking: yes

-- An append of items that stand or fall together: what `append` says of each, and either all of it or nothing. The work of an append that
-- falls is undone with its block; its codes are variables, and stay.
create function append_whole(
  s_stream text[], s_expected integer[], s_revision integer[], s_fold integer[], s_fresh boolean[], s_checked boolean[], s_state text[],
  e_item integer[], e_revision integer[], e_command uuid[], e_ordinal integer[], e_id uuid[], e_type text[], e_at timestamptz[],
  e_actor text[], e_body text[], e_trace text[],
  c_item integer[], c_revision integer[], c_machine uuid[], c_check_id uuid[], c_generation integer[], c_boot_counter integer[],
  c_boot_id integer[], c_sequence integer[], c_said smallint[], c_interval smallint[], c_window smallint[],
  k_item integer[], k_key text[], k_release boolean[],
  w_known timestamptz, w_elapsed_ms double precision, w_mark_after_ms integer, w_trace text,
  out batch bigint, out recorded_at timestamptz, out codes text[]
) language plpgsql set search_path = public, pg_temp as $$
begin
  select a.batch, a.recorded_at, a.codes into batch, recorded_at, codes from append(
    s_stream, s_expected, s_revision, s_fold, s_fresh, s_checked, s_state,
    e_item, e_revision, e_command, e_ordinal, e_id, e_type, e_at, e_actor, e_body, e_trace,
    c_item, c_revision, c_machine, c_check_id, c_generation, c_boot_counter, c_boot_id, c_sequence, c_said, c_interval, c_window,
    k_item, k_key, k_release,
    w_known, w_elapsed_ms, w_mark_after_ms, w_trace) a;
  if exists (select from unnest(codes) code where code <> 'ok') then
    raise exception 'not all of it' using errcode = 'RC001';
  end if;
exception when sqlstate 'RC001' then
  batch := null;
end $$;

-- As for `append`: nobody may, but the services.
revoke all on function append_whole from public;
grant execute on function append_whole to rollcall_app;

-- A node is held by its machine that lives, or was by the newest of those that were deleted. Until now each machine had one of its own.
insert into claim (key, stream, released)
select 'node:' || (e.body::jsonb ->> 'nodeId'), e.stream,
  exists (select from event d where d.stream = e.stream and d.type = 'MachineDeleted')
from event e where e.type = 'MachineAdmitted';
