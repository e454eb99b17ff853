import { BATCH_STREAM, BATCH_SUBJECT, EVENT_STREAM } from '@rollcall/feed';

/** Who connects to NATS: the relay publishes, the projector reads batches, subscribers read ledger events. */
export type NatsRole = 'relay' | 'projector' | 'subscriber';

/** What a role may do: subjects, with wildcards. Nothing else is allowed. */
export type NatsRights = { readonly publish: readonly string[]; readonly subscribe: readonly string[] };

/** Where a role gets its answers. Nobody listens in another's inbox. */
export const inboxPrefix = (role: NatsRole): string => `_INBOX_${role}`;

const api = (...calls: readonly string[]): readonly string[] => calls.map((call) => `$JS.API.${call}`);

const streamKeeping = [EVENT_STREAM, BATCH_STREAM].flatMap((stream) =>
  api(`STREAM.INFO.${stream}`, `STREAM.CREATE.${stream}`, `STREAM.UPDATE.${stream}`),
);

/** The rights of each role, as `infra/nats/nats-server.conf` gives them. */
export const NATS_RIGHTS: Readonly<Record<NatsRole, NatsRights>> = {
  // It keeps the streams as they must be, and cannot delete or purge them, nor follow them. It looks for the newest that each holds.
  relay: {
    publish: [
      'rollcall.>',
      ...streamKeeping,
      ...api(`STREAM.MSG.GET.${EVENT_STREAM}`, `STREAM.MSG.GET.${BATCH_STREAM}`),
    ],
    subscribe: [`${inboxPrefix('relay')}.>`],
  },
  projector: {
    publish: [
      ...api(
        `CONSUMER.LIST.${BATCH_STREAM}`,
        `CONSUMER.INFO.${BATCH_STREAM}.*`,
        `CONSUMER.CREATE.${BATCH_STREAM}.*.${BATCH_SUBJECT}`,
        `CONSUMER.DELETE.${BATCH_STREAM}.*`,
        `CONSUMER.MSG.NEXT.${BATCH_STREAM}.*`,
      ),
      `$JS.ACK.${BATCH_STREAM}.>`,
    ],
    subscribe: [`${inboxPrefix('projector')}.>`],
  },
  subscriber: {
    publish: [
      ...api(
        `STREAM.INFO.${EVENT_STREAM}`,
        `CONSUMER.INFO.${EVENT_STREAM}.*`,
        `CONSUMER.CREATE.${EVENT_STREAM}.>`,
        `CONSUMER.DURABLE.CREATE.${EVENT_STREAM}.*`,
        `CONSUMER.DELETE.${EVENT_STREAM}.*`,
        `CONSUMER.MSG.NEXT.${EVENT_STREAM}.*`,
      ),
      `$JS.ACK.${EVENT_STREAM}.>`,
    ],
    subscribe: [`${inboxPrefix('subscriber')}.>`],
  },
};
