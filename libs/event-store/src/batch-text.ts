import { instantOf, timestampOf } from '@rollcall/decider';
import type { CheckedIn } from '@rollcall/machine';
import { ledgerEventOf } from './body.js';
import type { Actor, Batch, RecordedFact } from './event-store.js';

const SCHEMA = 'rollcall.batch.v1';

/** A batch as text, for whoever carries it. `facts` is null where they were left out: they have to be read from the record. */
type BatchText = {
  readonly schema: typeof SCHEMA;
  readonly epoch: string;
  readonly number: string;
  readonly recordedAt: string;
  readonly facts: readonly FactText[] | null;
  /** Left out where there is none, as in every batch of the versions before. */
  readonly trace?: string;
};

type Place = { readonly stream: string; readonly revision: number };
type FactText =
  | (Place & {
      readonly kind: 'event';
      readonly position: string;
      readonly eventId: string;
      readonly commandId: string;
      readonly ordinal: number;
      readonly actor: Actor;
      readonly type: string;
      readonly body: string;
    })
  | (Place & { readonly kind: 'check-in'; readonly checkIn: CheckedIn });

/** The text is not a batch, or not one of a form that this version knows. */
export class NotABatch extends Error {
  override readonly name = 'NotABatch';
}

/** Writes a batch down so that `decodeBatch` gives back the same: JSON, with big numbers as text and bodies as the recorded bytes. */
export const encodeBatch = (epoch: string, batch: Batch): string => written(epoch, batch, batch.facts.map(factText));

/** The same batch without its facts, for a carrier that takes no message of that size. */
export const encodeBatchWithoutFacts = (epoch: string, batch: Batch): string => written(epoch, batch, null);

const written = (epoch: string, { number, recordedAt, trace }: Batch, facts: readonly FactText[] | null): string => {
  const text: BatchText = {
    schema: SCHEMA,
    epoch,
    number: number.toString(),
    recordedAt: timestampOf(recordedAt),
    facts,
    ...(trace === null ? {} : { trace }),
  };
  return JSON.stringify(text);
};

const factText = (fact: RecordedFact): FactText => {
  const { stream, revision } = fact;
  if (fact.kind === 'check-in') return { kind: 'check-in', stream, revision, checkIn: fact.checkIn };
  const { position, eventId, commandId, ordinal, actor, event, body } = fact;
  return {
    kind: 'event',
    stream,
    revision,
    position: position.toString(),
    eventId,
    commandId,
    ordinal,
    actor,
    type: event.type,
    body,
  };
};

/**
 * Reads a batch that `encodeBatch` wrote; null where its facts were left out.
 *
 * @throws NotABatch
 */
export const decodeBatch = (text: string): Batch | null => {
  try {
    const parsed = JSON.parse(text) as Omit<BatchText, 'schema'> & { readonly schema: unknown };
    const { schema, number, recordedAt, facts, trace } = parsed;
    if (schema !== SCHEMA) throw new NotABatch(`This is of another form than ${SCHEMA}`);
    if (facts === null) return null;
    const place = { batch: BigInt(number), recordedAt: instantOf(recordedAt) };
    if (Number.isNaN(place.recordedAt)) throw new NotABatch(`"${recordedAt}" is no time`);
    const { batch, recordedAt: at } = place;
    return { number: batch, recordedAt: at, facts: facts.map((fact) => recorded(fact, place)), trace: traceOf(trace) };
  } catch (error) {
    if (error instanceof NotABatch) throw error;
    throw new NotABatch('This is no batch', { cause: error });
  }
};

/** Nothing else is lost with a trace that is none. */
const traceOf = (trace: unknown): string | null => (typeof trace === 'string' ? trace : null);

const recorded = (fact: FactText, place: { readonly batch: bigint; readonly recordedAt: number }): RecordedFact => {
  const { stream, revision } = fact;
  if (fact.kind === 'check-in') return { kind: 'check-in', stream, revision, ...place, checkIn: fact.checkIn };
  const { position, eventId, commandId, ordinal, actor, type, body } = fact;
  return {
    kind: 'event',
    stream,
    revision,
    ...place,
    position: BigInt(position),
    eventId,
    commandId,
    ordinal,
    actor,
    event: ledgerEventOf(type, body),
    body,
  };
};
