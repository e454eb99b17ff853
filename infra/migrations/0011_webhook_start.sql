-- breaking: no
-- Where the search for notices begins: at the head of the record, because no endpoint is older than this.
insert into webhook_cursor (epoch, number)
select epoch, coalesce((select max(number) from batch), 0) from record_epoch
on conflict do nothing;
