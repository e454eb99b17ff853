import type { Batch, LedgerEvent, RecordedFact, RecordHead } from '@rollcall/event-store';
import { checkedIn } from '@rollcall/machine/testing';
import type { RelayRecord } from '../relay.js';

const uuid = (n: number | bigint): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;

/** A record that a test writes as it likes, and puts back to an earlier state. */
export class InMemoryRecord implements RelayRecord {
  /** Set: nothing can be read. */
  away = false;
  /** How often it was asked for batches. */
  reads = 0;
  readonly #batches: Batch[] = [];
  readonly #listeners = new Set<() => void>();
  #epochs = 1;
  #positions = 0n;
  #ids = 0;

  /** Appends a batch with these events of one stream, and with a check-in of machine 1 beside them. */
  append(stream: string, ...events: readonly LedgerEvent[]): this {
    const number = BigInt(this.#batches.length + 1);
    const place = { batch: number, recordedAt: Date.UTC(2026, 0, 1, 12) + this.#batches.length * 1_000 };
    const facts: RecordedFact[] = events.map((event, index) => {
      const { type: _, ...body } = event;
      const position = this.#positions;
      this.#positions += 1n;
      this.#ids += 1;
      return {
        kind: 'event',
        ...place,
        stream,
        revision: index + 1,
        position,
        eventId: uuid(this.#ids),
        commandId: uuid(this.#ids),
        ordinal: 0,
        actor: { kind: 'person', id: 'anna' },
        event,
        body: JSON.stringify(body),
      };
    });
    facts.push({ kind: 'check-in', ...place, stream: 'machine-1', revision: 1, checkIn: checkedIn() });
    return this.push({ number, recordedAt: place.recordedAt, facts, trace: null });
  }

  /** Adds a batch as it is. */
  push(batch: Batch): this {
    this.#batches.push(batch);
    for (const listener of this.#listeners) listener();
    return this;
  }

  /** The newest batches are gone, as after a restore that nobody marked. */
  putBackTo(batch: number): this {
    this.#batches.length = batch;
    this.#positions = BigInt(
      this.batches().flatMap(({ facts }) => facts.filter(({ kind }) => kind === 'event')).length,
    );
    return this;
  }

  batches(): readonly Batch[] {
    return this.#batches;
  }

  /** How many want to be told of what is appended. */
  get listeners(): number {
    return this.#listeners.size;
  }

  readBatches(after: bigint, limit: number): Promise<readonly Batch[]> {
    this.reads += 1;
    return this.#there(this.#batches.slice(Number(after), Number(after) + limit));
  }

  newest(): Promise<RecordHead> {
    const { number, recordedAt } = this.#batches.at(-1) ?? { number: 0n, recordedAt: 0 };
    return this.#there({ number, recordedAt });
  }

  epoch(): Promise<string> {
    return this.#there(uuid(this.#epochs));
  }

  renewEpoch(): Promise<string> {
    this.#epochs += 1;
    return this.epoch();
  }

  batchOfEvent(position: bigint): Promise<bigint | null> {
    const facts = this.#batches.flatMap((batch) => batch.facts);
    return this.#there(facts.find((fact) => fact.kind === 'event' && fact.position === position)?.batch ?? null);
  }

  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #there<Value>(value: Value): Promise<Value> {
    return this.away ? Promise.reject(new Error('The record is away')) : Promise.resolve(value);
  }
}
