-- breaking: no
-- What has waited too long is looked for every minute.
create index webhook_delivery_old on webhook_delivery (enqueued_at) where state = 'waiting';
