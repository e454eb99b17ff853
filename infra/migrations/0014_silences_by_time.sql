-- breaking: no
-- Absences and returns of the last minutes are counted at each scrape of the metrics: found by their time, among the few lines that are one.

create index history_line_silence on history_line (at) where type in ('WentAbsent', 'Returned');
