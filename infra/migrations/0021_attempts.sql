-- breaking: no
-- How often something was tried, counted for all instances together. No part of the record: unlogged, since after a crash counting from the
-- beginning harms nobody.

create unlogged table attempt (
  key text primary key check (length(key) <= 200),
  -- What the rule of this kind of key keeps.
  memory jsonb not null,
  times integer not null default 1,
  counted_at timestamptz not null default now()
) with (fillfactor = 50);
create index attempt_counted_at on attempt (counted_at);

grant select, insert, update, delete on attempt to rollcall_app;

-- Letting a program sign in is one more of the events that only a person brings about. As in 0019_actors.
create or replace function actor_may_record(p_type text, p_actor text) returns boolean language sql immutable parallel safe as $$
  select case split_part(p_actor, ':', 1)
    when 'person' then true
    when 'automation' then p_type in ('WebhookEndpointAdded', 'WebhookEndpointPaused', 'WebhookEndpointRemoved', 'WebhookEndpointResumed',
      'WebhookReplayRequested', 'WebhookSecretRolled', 'WebhookTestRequested')
    else p_type not in ('AutomationTokenIssued', 'CodeApproved', 'LoginApproved', 'MachineAdmitted', 'MachineDeleted', 'PersonAdded',
      'TokenIssued')
  end
$$;
