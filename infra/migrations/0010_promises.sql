-- breaking: no
-- Pauses among the times in which something kept a machine from work, and what is kept back from endpoints that want to hear of an absence only
-- where presence was promised (N11).

-- When it is over by itself: only a person's pause has that. Nothing is recorded then, so whether it still stands is judged against what the
-- read model has heard.
alter table readiness_episode add column expires_at timestamptz;

-- The silences that such endpoints were told of, and those that they may have to be told of when promised time begins. Kept by whoever follows the
-- record for notices, in the transaction that moves its cursor; a machine that is heard from again leaves no row.
create table webhook_silence (
  endpoint uuid not null,
  machine text collate "C" not null,
  -- The notice as it was when the silence was recorded: what the receiver knows it by does not depend on when it is sent.
  event_id uuid not null,
  sequence bigint not null,
  type text collate "C" not null,
  body text not null,
  occurred_at timestamptz not null,
  told boolean not null,
  -- When to look next, by the record's time; null: not before somebody promises something.
  look_at timestamptz,
  primary key (endpoint, machine),
  check (not told or look_at is null)
);
create index webhook_silence_machine on webhook_silence (machine);
create index webhook_silence_look_at on webhook_silence (look_at) where look_at is not null;

grant select, insert, update, delete on webhook_silence to rollcall_app;
