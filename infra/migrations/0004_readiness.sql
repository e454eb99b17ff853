-- breaking: no
-- The read model `readiness`: what has kept each machine from taking work, since when and until when (O21, O32).

insert into read_model (name) values ('readiness');

-- Whose a machine is. A check-in touches neither this table nor the next.
create table readiness_machine (
  machine text collate "C" primary key,
  owner text not null,
  deleted_at timestamptz
);

-- One row per time in which a blocker stood.
create table readiness_episode (
  machine text collate "C" not null,
  -- Of the event that began it: episodes of one machine in the order of the record.
  since_revision bigint not null,
  code text collate "C" not null,
  since_at timestamptz not null,
  -- null: it stands.
  until_at timestamptz,
  primary key (machine, since_revision, code)
) with (fillfactor = 80);

-- What stands is little of all that ever stood, and is what each change and each summary looks at.
create index readiness_episode_standing on readiness_episode (machine) where until_at is null;

grant select, insert, update, delete, truncate on readiness_machine, readiness_episode to rollcall_app;
