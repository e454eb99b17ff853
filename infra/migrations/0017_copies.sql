-- breaking: yes
-- A copied credential is told from lost answers (B2). Nothing of the tables changes; breaking, because an older instance would write heads without
-- the sign of a copy that stands, and give work to both.
select 1;
