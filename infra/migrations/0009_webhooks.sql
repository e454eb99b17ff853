-- breaking: no
-- Who is told what happens, and what became of each notice (U5). No part of the record, and no read model either: nothing rebuilds these
-- tables, so that nobody is told a second time. The jobs that carry the notices out are in the schema of the job queue, which makes it itself.

create table webhook_endpoint (
  endpoint uuid primary key,
  owner text collate "C" not null,
  -- What is shown of the target: its address is sealed, because it may hold a key of the receiver.
  host text not null,
  events text[] not null,
  promised_only boolean not null default false,
  -- The batch that added it: nothing that is older is ever sent.
  first_batch bigint not null,
  created_at timestamptz not null,
  removed_at timestamptz,
  -- While it is paused nothing connects to it but a probe, and what is to be sent waits.
  paused_at timestamptz,
  -- failing: too many attempts in a row; gone: it said so (410); person: somebody wants it so. Only the first is probed.
  pause_reason text check (pause_reason in ('failing', 'gone', 'person')),
  probe_at timestamptz,
  -- Attempts without success in a row, and since when.
  failures integer not null default 0 check (failures >= 0),
  failing_since timestamptz,
  check ((paused_at is null) = (pause_reason is null))
);
create index webhook_endpoint_owner on webhook_endpoint (owner, created_at);

-- The target's address and the secrets that its notices are signed with, sealed with a key from a file outside the database.
create table webhook_sealed (
  endpoint uuid not null,
  what text not null check (what in ('url', 'secret')),
  made_at timestamptz not null default clock_timestamp(),
  sealed bytea not null,
  -- Of a secret that another one has replaced: until then both sign. null: it is the one that counts.
  valid_until timestamptz,
  primary key (endpoint, what, made_at)
);
create unique index webhook_sealed_current on webhook_sealed (endpoint, what) where valid_until is null;

create table webhook_delivery (
  endpoint uuid not null,
  -- What the receiver knows it by, in every attempt.
  event_id uuid not null,
  -- null: it is about no single machine.
  machine text collate "C",
  -- The revision of the machine's stream: first attempts go out in this order.
  sequence bigint not null,
  type text collate "C" not null,
  -- The bytes to send.
  body text not null check (octet_length(body) <= 20480),
  occurred_at timestamptz not null,
  enqueued_at timestamptz not null default clock_timestamp(),
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
  attempts integer not null default 0 check (attempts >= 0),
  last_attempt_at timestamptz,
  last_status integer,
  -- A word of a closed list (`libs/webhooks`); never what the receiver said.
  last_outcome text,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  primary key (endpoint, event_id)
);
create index webhook_delivery_waiting on webhook_delivery (endpoint, machine, sequence) where state = 'waiting';
create index webhook_delivery_newest on webhook_delivery (endpoint, occurred_at, event_id);
create index webhook_delivery_settled on webhook_delivery (enqueued_at) where state <> 'waiting';

-- How far the record was looked through for notices. One row, which moves by compare-and-set together with what was found.
create table webhook_cursor (
  one boolean primary key default true check (one),
  epoch uuid not null,
  number bigint not null check (number >= 0),
  heard_until timestamptz
);

grant select, insert, update, delete on webhook_endpoint, webhook_sealed, webhook_delivery to rollcall_app;
grant select, insert, update on webhook_cursor to rollcall_app;
