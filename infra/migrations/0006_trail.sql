-- breaking: no
-- What each read model has applied, as one digest over all of it in order: whoever judges a read model can tell that nothing was left out,
-- applied twice or applied out of turn.

alter table read_model add column trail text not null default '';

-- Nobody wrote down what was applied so far.
update read_model set rebuild_requested = true where checkpoint > 0;
