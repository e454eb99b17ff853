-- breaking: no
-- Who can bring an event about, held also where no program of ours asks (O3): what admits a machine, opens a way to, or takes one away has a
-- person as its actor, and automation looks after webhooks and nothing else. The same lists as in libs/authorisation; a test compares them.

-- Nothing but its arguments, and no `set search_path`, so that it is folded into the constraint and costs no call.
create function actor_may_record(p_type text, p_actor text) returns boolean language sql immutable parallel safe as $$
  select case split_part(p_actor, ':', 1)
    when 'person' then true
    when 'automation' then p_type in ('WebhookEndpointAdded', 'WebhookEndpointPaused', 'WebhookEndpointRemoved', 'WebhookEndpointResumed',
      'WebhookReplayRequested', 'WebhookSecretRolled', 'WebhookTestRequested')
    else p_type not in ('AutomationTokenIssued', 'MachineAdmitted', 'MachineDeleted', 'TokenIssued')
  end
$$;
revoke all on function actor_may_record(text, text) from public;
grant execute on function actor_may_record(text, text) to rollcall_app;

-- What is recorded already is not read again here: the checker judges it (I12).
alter table event add constraint event_actor check (actor_may_record(type, actor)) not valid;
