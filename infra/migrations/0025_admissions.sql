-- breaking: no
-- What a person has issued or approved can be listed, withdrawn, and made void by what takes its place: this is how it is found.
create index event_admission on event (actor, batch) where type in ('TokenIssued', 'CodeApproved');
