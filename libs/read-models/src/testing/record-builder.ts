import type { Instant } from '@rollcall/decider';
import type { Actor, Batch, LedgerEvent, RecordedFact } from '@rollcall/event-store';
import { machineStream, type CheckedIn, type MachineEvent } from '@rollcall/machine';
import type { RecordReader } from '../follow-record.js';

/** The actor of events that were not given another. */
export const ANNA: Actor = { kind: 'person', id: 'anna' };

/** Something to record: a check-in, an event, or an event that no version of the rules ever decided. */
export type Anything = CheckedIn | MachineEvent | LedgerEvent;

/**
 * A record in memory that a test writes fact by fact, with times of its own choice; it can be read like the real one. What no
 * decider would ever decide can be written too.
 */
export class RecordBuilder implements RecordReader {
  readonly #batches: Batch[] = [];
  readonly #revisions = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  #positions = 0n;
  #epoch = 'epoch-1';

  /** @param now the time of the next batch */
  constructor(public now: Instant = Date.UTC(2026, 0, 1, 12)) {}

  /** The record's time goes on by so many seconds. */
  after(seconds: number): this {
    this.now += seconds * 1_000;
    return this;
  }

  /** Records facts of one machine as a batch. */
  record(machine: string, ...facts: readonly Anything[]): this {
    return this.recordTo(machineStream(machine), ANNA, ...facts);
  }

  /** Records facts of any stream as a batch. */
  recordTo(stream: string, actor: Actor, ...facts: readonly Anything[]): this {
    const number = BigInt(this.#batches.length + 1);
    const recorded = facts.map((fact) => this.#recorded(stream, actor, number, fact));
    return this.push({ number, recordedAt: this.now, facts: recorded, trace: null });
  }

  /** Records an empty batch. */
  mark(): this {
    return this.push({ number: BigInt(this.#batches.length + 1), recordedAt: this.now, facts: [], trace: null });
  }

  /** Adds a batch as it is. */
  push(batch: Batch): this {
    this.#batches.push(batch);
    for (const listener of this.#listeners) listener();
    return this;
  }

  /** The database was restored to an earlier state: the newest batches are gone. */
  restoreTo(batch: bigint, epoch = this.#epoch): this {
    this.#batches.length = Number(batch);
    this.#epoch = epoch;
    return this;
  }

  batches(): readonly Batch[] {
    return this.#batches;
  }

  readBatches(after: bigint, limit: number): Promise<readonly Batch[]> {
    return Promise.resolve(this.#batches.slice(Number(after), Number(after) + limit));
  }

  newest(): Promise<{ number: bigint; recordedAt: Instant }> {
    const newest = this.#batches.at(-1);
    return Promise.resolve({ number: newest?.number ?? 0n, recordedAt: newest?.recordedAt ?? 0 });
  }

  epoch(): Promise<string> {
    return Promise.resolve(this.#epoch);
  }

  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** How many readers wait to be told. */
  get listeners(): number {
    return this.#listeners.size;
  }

  #recorded(stream: string, actor: Actor, batch: bigint, fact: Anything): RecordedFact {
    const revision = (this.#revisions.get(stream) ?? 0) + 1;
    this.#revisions.set(stream, revision);
    const place = { stream, revision, batch, recordedAt: this.now };
    if (isCheckIn(fact)) {
      return { kind: 'check-in', ...place, checkIn: { ...fact, machine: stream.slice('machine-'.length) } };
    }
    const { type: _, ...body } = fact;
    const position = this.#positions;
    this.#positions += 1n;
    const id = `00000000-0000-4000-8000-${position.toString(16).padStart(12, '0')}`;
    const text = unreadable in fact ? '{"torn' : JSON.stringify(body);
    const event = fact as LedgerEvent;
    return { kind: 'event', ...place, position, eventId: id, commandId: id, ordinal: 0, actor, event, body: text };
  }
}

const unreadable = Symbol('unreadable');

/** An event whose recorded bytes are no JSON. */
export const torn = (type: string): LedgerEvent => ({ type, [unreadable]: true });

const isCheckIn = (fact: Anything): fact is CheckedIn => fact.type === 'CheckedIn';
