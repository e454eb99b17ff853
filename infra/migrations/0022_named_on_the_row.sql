-- breaking: yes
-- What a machine is waited for, and what was refused in its name, on its row (N26, C03). Part of the read model `presence`. Breaking, because an older
-- projector would keep rows without them.
alter table presence_machine
  -- {"stamp" (milliseconds), "generation"}: a person's request for a newer credential.
  add column rotation_requested jsonb,
  -- Registered, and not used yet.
  add column pending_generation integer,
  -- {"count", "first", "last" (milliseconds), "hostname" or null}
  add column refused_claims jsonb;

update presence_change
set shown = '{"rotationRequested": null, "pendingGeneration": null, "refusedClaims": null}'::jsonb || shown;

-- Nobody wrote down what has happened so far.
update read_model set rebuild_requested = true where name = 'presence' and checkpoint > 0;
