import { timestampOf, type Json } from '@rollcall/decider';
import {
  encodeBatch,
  encodeBatchWithoutFacts,
  type Actor,
  type Batch,
  type RecordedEvent,
} from '@rollcall/event-store';
import { BATCH_SUBJECT, batchMessageId, eventMessageId, eventSubject, type FeedMessage } from '@rollcall/feed';
import { withoutWithheld } from './withheld.js';

/** A batch in more bytes than this travels without its facts: a server takes no message above 1 MiB. */
const BATCH_LIMIT = 900_000;

/** A ledger event as subscribers get it. `docs/schemas` holds the same for those who do not read TypeScript. */
export type EventMessage = {
  readonly schema: 'rollcall.event.v1';
  /** The event's own id (UUID). The same in every repetition, also in those of another epoch: drop what you have seen. */
  readonly id: string;
  /** What happened, for example `MachineRenamed`. */
  readonly type: string;
  /** What it happened to: `machine`, `token`, `person`. More may come. */
  readonly category: string;
  /** The id of what it happened to; null where there is only one of the category. */
  readonly subject: string | null;
  /** Category and id in one: within a stream, facts are in one order. */
  readonly stream: string;
  /** The place in the stream, from 1. Check-ins have revisions too, so events alone show holes. */
  readonly revision: number;
  /** The place among all ledger events, dense from 0; a decimal number. */
  readonly position: string;
  /** The batch that recorded it; a decimal number. */
  readonly batch: string;
  /** Of the record, UUID. Another one than before: the record was restored, and its newest events may be gone. */
  readonly epoch: string;
  /** When the record took it; UTC, RFC 3339, milliseconds. */
  readonly recordedAt: string;
  /** Who did it. */
  readonly actor: Actor;
  /** What is to be known about it, by type; null where it cannot be read. Hashes are left out. */
  readonly body: { readonly [field: string]: Json } | null;
  /** Present, and true, when `body` is null. */
  readonly unreadable?: true;
};

/** All that is published of a batch, in order: the batch for the read models, then each of its ledger events for subscribers. */
export const messagesOf = (epoch: string, batch: Batch): readonly FeedMessage[] => [
  batchMessage(epoch, batch),
  ...batch.facts.flatMap((fact) => (fact.kind === 'event' ? [eventMessage(epoch, fact)] : [])),
];

/** What is published and acknowledged together. */
export type Portion = {
  readonly messages: readonly FeedMessage[];
  /** The newest batch in it. */
  readonly upTo: bigint;
};

/** Whole batches in order, as many at a time as have no more than `limit` bytes, and at least one. */
export function* portionsOf(epoch: string, batches: readonly Batch[], limit: number): Generator<Portion> {
  let messages: FeedMessage[] = [];
  let bytes = 0;
  let upTo = 0n;
  for (const batch of batches) {
    const more = messagesOf(epoch, batch);
    const size = more.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
    if (messages.length > 0 && bytes + size > limit) {
      yield { messages, upTo };
      [messages, bytes] = [[], 0];
    }
    messages.push(...more);
    bytes += size;
    upTo = batch.number;
  }
  if (messages.length > 0) yield { messages, upTo };
}

const batchMessage = (epoch: string, batch: Batch): FeedMessage => {
  const whole = encodeBatch(epoch, batch);
  return {
    subject: BATCH_SUBJECT,
    id: batchMessageId({ epoch, number: batch.number }),
    body: Buffer.byteLength(whole) > BATCH_LIMIT ? encodeBatchWithoutFacts(epoch, batch) : whole,
  };
};

const eventMessage = (epoch: string, recorded: RecordedEvent): FeedMessage => {
  const { eventId, event, stream, revision, position, batch, recordedAt, actor } = recorded;
  const dash = stream.indexOf('-');
  const body = objectOf(recorded.body);
  const message: EventMessage = {
    schema: 'rollcall.event.v1',
    id: eventId,
    type: event.type,
    category: dash < 0 ? stream : stream.slice(0, dash),
    subject: dash < 0 ? null : stream.slice(dash + 1),
    stream,
    revision,
    position: position.toString(),
    batch: batch.toString(),
    epoch,
    recordedAt: timestampOf(recordedAt),
    actor,
    ...(body === null ? { body, unreadable: true } : { body: withoutWithheld(body) }),
  };
  return {
    subject: eventSubject(stream, event.type),
    id: eventMessageId({ epoch, position }),
    body: JSON.stringify(message),
  };
};

const objectOf = (text: string): { readonly [field: string]: Json } | null => {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as { readonly [field: string]: Json })
      : null;
  } catch {
    return null;
  }
};
