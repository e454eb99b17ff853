-- breaking: no
-- What happened to machines, for who follows them as it happens (U3). Part of the read model `presence`: made of the record, written with its rows
-- and its checkpoint, and made again by a rebuild, row by row the same.

-- A machine as it was after the facts of one batch, if one of them changed what is shown of it. Older than a day is not told any more, and goes.
create table presence_change (
  owner text collate "C" not null,
  batch bigint not null,
  machine text collate "C" not null,
  -- Of the batch.
  at timestamptz not null,
  -- The row as the projection knows it.
  shown jsonb not null,
  primary key (owner, batch, machine)
);

create index presence_change_at on presence_change (at);

grant select, insert, update, delete, truncate on presence_change to rollcall_app;

-- Nobody wrote down what has happened so far.
update read_model set rebuild_requested = true where name = 'presence' and checkpoint > 0;
