-- breaking: no
-- The read models: what the projector makes of the record. All of it can be emptied and made again from the record (U7),
-- so nothing else may point here, and nothing that is only known here may be written here.

-- How far each read model has come. Row changes and checkpoint move in one transaction.
create table read_model (
  name text primary key,
  -- The epoch of the record that was followed; null before the first look.
  epoch text,
  -- The newest batch that was applied, and its time: the "now" of every answer from this read model.
  checkpoint bigint not null default 0 check (checkpoint >= 0),
  heard_until timestamptz,
  -- The end of the newest time in which the plane was deaf (B1).
  gap_end timestamptz,
  rebuild_requested boolean not null default false,
  -- The head of the record when the last rebuild began: until there it is rebuilding.
  rebuild_until bigint not null default 0
) with (fillfactor = 50);

insert into read_model (name) values ('history'), ('presence');

-- Two neighbouring batches too far apart: nobody was heard in between, whoever spoke.
create table read_model_gap (
  read_model text not null,
  -- The batch that ended it.
  batch bigint not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  primary key (read_model, batch)
);

-- Facts that a read model could not use. One row per stream and reason, so that a machine that says the same unreadable
-- thing twice a minute costs one row.
create table read_model_parked (
  read_model text not null,
  stream text collate "C" not null,
  reason text not null,
  first_revision bigint not null,
  last_revision bigint not null,
  facts bigint not null,
  detail text not null,
  primary key (read_model, stream, reason)
);

-- One row per machine. A check changes `last_check_at`, `window_seconds`, `said`, `stop_reason` and `revision`: none of
-- them may be indexed, or the update is no longer a heap-only one.
create table presence_machine (
  machine text collate "C" primary key,
  node text not null,
  owner text not null,
  name text collate "C",
  hostname text,
  agent_version text,
  platform text,
  arch text,
  generation integer,
  admitted_at timestamptz not null,
  last_check_at timestamptz,
  window_seconds integer,
  said text,
  stop_reason text,
  -- [{"code", "since" (milliseconds)}], sorted by code.
  blockers jsonb not null,
  deleted_at timestamptz,
  revision bigint not null
) with (fillfactor = 50);

create index presence_machine_name on presence_machine (name);

-- One row per ledger event, and one per run of check-ins with nothing between them. Only the newest run of a machine is
-- ever updated, in columns that no index holds.
create table history_line (
  machine text collate "C" not null,
  -- Of the event, or of the first check of the run.
  revision bigint not null,
  kind text not null check (kind in ('event', 'checks')),
  at timestamptz not null,
  -- An event: as it was recorded, readable to this version or not.
  type text,
  actor_kind text,
  actor_id text,
  body text,
  -- A run of checks.
  last_revision bigint,
  last_at timestamptz,
  checks integer,
  said text,
  window_seconds integer,
  primary key (machine, revision),
  check ((kind = 'event') = (type is not null and actor_kind is not null and actor_id is not null and body is not null)),
  check ((kind = 'checks') = (last_revision is not null and last_at is not null and checks is not null and said is not null
    and window_seconds is not null))
) with (fillfactor = 80);

grant select, insert, update, delete, truncate
  on read_model, read_model_gap, read_model_parked, presence_machine, history_line to rollcall_app;

-- Every instance compares at its start what has been run with what it needs.
do $$ begin
  if to_regclass('kysely_migration') is not null then grant select on kysely_migration to rollcall_app; end if;
end $$;
