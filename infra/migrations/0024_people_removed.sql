-- breaking: no
-- Removing a person, and giving somebody access to directories, are more of the events that only a person brings about. As in 0019_actors.

create or replace function actor_may_record(p_type text, p_actor text) returns boolean language sql immutable parallel safe as $$
  select case split_part(p_actor, ':', 1)
    when 'person' then true
    when 'automation' then p_type in ('WebhookEndpointAdded', 'WebhookEndpointPaused', 'WebhookEndpointRemoved', 'WebhookEndpointResumed',
      'WebhookReplayRequested', 'WebhookSecretRolled', 'WebhookTestRequested')
    else p_type not in ('AccessEnded', 'AccountLinked', 'AutomationTokenIssued', 'CodeApproved', 'DirectoryBound', 'LoginApproved',
      'MachineAdmitted', 'MachineDeleted', 'MemberAdded', 'PersonAdded', 'PersonRemoved', 'TokenIssued')
  end
$$;
