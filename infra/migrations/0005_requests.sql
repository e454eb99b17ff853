-- breaking: yes
-- What machines are asked for (O26). Breaking, because an older instance would write heads without the requests that wait.

-- The stamp of the request for the tail of the log that waits for its upload; null: none.
alter table presence_machine add column log_tail_requested timestamptz;

-- The tails that machines uploaded: no part of the record. The one whose stamp is the newest that the machine's stream received counts; a row
-- with another stamp is what an upload left that did not come to its end, and goes with the next one.
create table log_tail (
  machine text collate "C" not null,
  stamp text collate "C" not null,
  received_at timestamptz not null default clock_timestamp(),
  bytes bytea not null check (octet_length(bytes) <= 1048576),
  primary key (machine, stamp)
);

grant select, insert, delete on log_tail to rollcall_app;
