-- breaking: yes
-- Silence as events: who went absent, and what is attached to a machine by people. Breaking, because an older instance would write heads
-- without the absence, the pause and the labels that are recorded.

alter table presence_machine
  -- When an absence that is recorded became due; null while the machine is heard from.
  add column absent_since timestamptz,
  -- {"since", "until" (milliseconds or null), "note", "by"}: a person's word that keeps it from work.
  add column pause jsonb,
  add column labels jsonb not null default '{}';

insert into read_model (name) values ('absence');

-- When each machine that is heard from may become absent at the earliest. A check touches no row here: a row is looked at when its time has come,
-- and is put back for as long as the machine's newest check allows. So the cost of watching follows time and changes, not checks.
create table absence_due (
  machine text collate "C" primary key,
  due timestamptz not null
) with (fillfactor = 70);
create index absence_due_due on absence_due (due);

grant select, insert, update, delete, truncate on absence_due to rollcall_app;
