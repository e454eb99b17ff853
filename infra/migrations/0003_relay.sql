-- breaking: no
-- How far the relay has published. One row, which moves by compare-and-set: two relays at a time repeat each other and lose nothing.
create table relay_cursor (
  one boolean primary key default true check (one),
  -- Of the record, when the row was moved.
  epoch uuid not null,
  -- The newest batch of which every message was acknowledged.
  number bigint not null check (number >= 0),
  moved_at timestamptz not null default clock_timestamp()
);

grant select, insert, update on relay_cursor to rollcall_app;
