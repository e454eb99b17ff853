import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream';
import { BATCH_STREAM, BATCH_SUBJECT, EVENT_STREAM, EVENT_SUBJECTS } from '@rollcall/feed';

/** What a plane may choose about its streams; everything else is fixed. */
export type FeedSizes = {
  /** Copies of each stream: 1, or 3 in a cluster. (Default: 1) */
  readonly replicas: number;
  /** Bytes that the stream of ledger events may keep, beside its 24 hours. (Default: 2 GiB) */
  readonly eventBytes: number;
  /** Bytes that the stream of batches may keep, beside its hour. (Default: 1 GiB) */
  readonly batchBytes: number;
};

const GIB = 1024 ** 3;

/** Where nothing else is said. */
export const DEFAULT_SIZES: FeedSizes = { replicas: 1, eventBytes: 2 * GIB, batchBytes: GIB };

/** Milliseconds in which a server recognises a message that it has stored. */
const DUPLICATE_WINDOW = 120_000;
const HOUR = 3_600_000;
/** The most that a message takes, with what travels beside the body. */
export const MESSAGE_BYTES = 1_048_576;

const nanos = (ms: number): number => ms * 1_000_000;

/** Stream settings that a server of version 2.9 knows, all of which are compared with what it says that it has. */
export type StreamSettings = Pick<
  StreamConfig,
  | 'name'
  | 'subjects'
  | 'retention'
  | 'storage'
  | 'discard'
  | 'max_age'
  | 'max_bytes'
  | 'max_msgs'
  | 'max_msgs_per_subject'
  | 'max_msg_size'
  | 'max_consumers'
  | 'duplicate_window'
  | 'num_replicas'
  | 'deny_delete'
  | 'deny_purge'
  | 'allow_rollup_hdrs'
  | 'sealed'
>;

const stream = (
  name: string,
  subject: string,
  limits: { readonly age: number; readonly bytes: number; readonly replicas: number },
): StreamSettings => ({
  name,
  subjects: [subject],
  retention: 'limits',
  storage: 'file',
  // A reader that is gone must never hold up the relay.
  discard: 'old',
  max_age: nanos(limits.age),
  max_bytes: limits.bytes,
  max_msgs: -1,
  max_msgs_per_subject: -1,
  max_msg_size: MESSAGE_BYTES,
  max_consumers: -1,
  duplicate_window: nanos(DUPLICATE_WINDOW),
  num_replicas: limits.replicas,
  deny_delete: true,
  deny_purge: true,
  allow_rollup_hdrs: false,
  sealed: false,
});

/** The two streams as they must be. */
export const streamSettings = ({ replicas, eventBytes, batchBytes }: FeedSizes): readonly StreamSettings[] => [
  stream(EVENT_STREAM, EVENT_SUBJECTS, { age: 24 * HOUR, bytes: eventBytes, replicas }),
  stream(BATCH_STREAM, BATCH_SUBJECT, { age: HOUR, bytes: batchBytes, replicas }),
];

/** Consumer settings that a server of version 2.9 knows, all of which are compared with what it says that it has. */
export type ConsumerSettings = Pick<
  ConsumerConfig,
  | 'durable_name'
  | 'ack_policy'
  | 'ack_wait'
  | 'max_ack_pending'
  | 'max_deliver'
  | 'filter_subject'
  | 'deliver_policy'
  | 'replay_policy'
  | 'deliver_subject'
>;

/** The durable pull consumer of a reader, as it must be. */
export const consumerSettings = (reader: string, acknowledgeWithinMs: number): ConsumerSettings => ({
  durable_name: reader,
  ack_policy: 'explicit',
  ack_wait: nanos(acknowledgeWithinMs),
  max_ack_pending: 64,
  max_deliver: -1,
  filter_subject: BATCH_SUBJECT,
  // The past is the record's to tell.
  deliver_policy: 'new',
  replay_policy: 'instant',
  // None: what is delivered is asked for.
  deliver_subject: '',
});
