-- breaking: no
-- Many machines of one owner that fall silent together (B4): while a hold is open, nobody is told of each. Kept by whoever follows the record for
-- notices, in the transaction that moves its cursor.

create table silence_hold (
  hold uuid primary key,
  owner text collate "C" not null,
  opened_at timestamptz not null,
  -- By the record's time.
  ends_at timestamptz not null,
  closed_at timestamptz,
  -- The notice that went out when it was opened, as it was; the hold's own id is its `webhook-id`.
  body text not null,
  -- The `webhook-id` of the one at its end.
  digest uuid not null
);
create unique index silence_hold_open on silence_hold (owner) where closed_at is null;

-- Whose absence is held back. One that comes back or is deleted leaves.
create table silence_held (
  hold uuid not null,
  machine text collate "C" not null,
  name text,
  last_check_at timestamptz not null,
  due_at timestamptz not null,
  -- The endpoints that would have been told of it.
  endpoints uuid[] not null,
  primary key (hold, machine)
);

grant select, insert, update, delete on silence_hold, silence_held to rollcall_app;

-- The fleet of one owner is counted when one of its machines goes absent.
create index presence_machine_owner on presence_machine (owner);
