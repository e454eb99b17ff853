import { describe, expect, it } from '@jest/globals';
import { decodeBatch, type Batch, type LedgerEvent, type RecordedEvent } from '@rollcall/event-store';
import { BATCH_SUBJECT, placeOfMessageId } from '@rollcall/feed';
import { checkedIn } from '@rollcall/machine/testing';
import { messagesOf, portionsOf } from './messages.js';
import { InMemoryRecord } from './testing/index.js';
import { isWithheld, withoutWithheld } from './withheld.js';

const EPOCH = '0192f0c4-0000-7000-8000-000000000001';
const renamed = (name: string): LedgerEvent => ({ type: 'MachineRenamed', name });
const batchOf = (...events: LedgerEvent[]): Batch => new InMemoryRecord().append('machine-7', ...events).batches()[0]!;
const bodies = (batch: Batch) =>
  messagesOf(EPOCH, batch)
    .slice(1)
    .map(({ body }) => JSON.parse(body) as object);
/** A batch of one event whose recorded bytes are these. */
const written = (body: string): Batch => {
  const batch = batchOf(renamed('x'));
  return { ...batch, facts: [{ ...(batch.facts[0] as RecordedEvent), body }] };
};

describe('what is published of a batch', () => {
  it('is the batch for the read models, then each ledger event for subscribers, and no check-in by itself (U2)', () => {
    const batch = batchOf(renamed('a'), renamed('b'));
    const [whole, ...events] = messagesOf(EPOCH, batch);
    expect(whole?.subject).toBe(BATCH_SUBJECT);
    expect(placeOfMessageId(whole?.id ?? '')).toEqual({ epoch: EPOCH, number: 1n });
    expect(decodeBatch(whole?.body ?? '')).toEqual(batch);
    expect(events.map(({ subject, id }) => [subject, id])).toEqual([
      ['rollcall.machine.MachineRenamed.7', `${EPOCH}-0`],
      ['rollcall.machine.MachineRenamed.7', `${EPOCH}-1`],
    ]);
  });

  it('has the same ids and bytes whenever it is made again', () => {
    const batch = batchOf(renamed('a'));
    expect(messagesOf(EPOCH, batch)).toEqual(messagesOf(EPOCH, batch));
  });

  it('is an empty batch too, which says that the plane could hear', () =>
    expect(messagesOf(EPOCH, { number: 4n, recordedAt: 0, facts: [], trace: null })).toHaveLength(1));

  it('leaves the facts of a batch out where a server would not take them; its events are published all the same', () => {
    const long = 'x'.repeat(30_000);
    const events = Array.from({ length: 31 }, () => renamed(long));
    const [whole, ...rest] = messagesOf(EPOCH, batchOf(...events));
    expect(decodeBatch(whole?.body ?? '')).toBeNull();
    expect(rest).toHaveLength(31);
    const [fits] = messagesOf(EPOCH, batchOf(...events.slice(3)));
    expect(decodeBatch(fits?.body ?? '')?.facts).toHaveLength(29);
  });
});

describe('an event for subscribers', () => {
  it('says what happened to what, where it stands, and who did it, with large numbers as text', () =>
    expect(bodies(batchOf(renamed('forge')))).toEqual([
      {
        schema: 'rollcall.event.v1',
        id: '00000000-0000-4000-8000-000000000001',
        type: 'MachineRenamed',
        category: 'machine',
        subject: '7',
        stream: 'machine-7',
        revision: 1,
        position: '0',
        batch: '1',
        epoch: EPOCH,
        recordedAt: '2026-01-01T12:00:00.000Z',
        actor: { kind: 'person', id: 'anna' },
        body: { name: 'forge' },
      },
    ]));

  it('has no subject where its category is one stream', () => {
    const batch = new InMemoryRecord().append('plane', renamed('a')).batches()[0]!;
    expect(bodies(batch)).toMatchObject([{ category: 'plane', subject: null }]);
  });

  it.each(['{"torn', '[]', '7', 'null', ''])('of which %j was recorded comes without a body, and says so', (text) =>
    expect(bodies(written(text))).toMatchObject([{ type: 'MachineRenamed', body: null, unreadable: true }]),
  );

  it('keeps hashes of secrets and identifiers at home, at any depth (O18)', () => {
    const body = { keyHash: 'h1', kept: [{ tokenHash: 'h2', id: 1 }], deep: { hash: 'h3', name: null }, hashes: 2 };
    expect(bodies(written(JSON.stringify(body)))).toMatchObject([
      { body: { kept: [{ id: 1 }], deep: { name: null }, hashes: 2 } },
    ]);
    expect(JSON.stringify(bodies(written(JSON.stringify(body))))).not.toMatch(/h[123]/);
  });
});

describe('a field that stays at home', () => {
  it('is known by the end of its name', () => {
    expect(['keyHash', 'identifierHash', 'hash'].every(isWithheld)).toBe(true);
    expect(['hashes', 'hashed', 'name', ''].some(isWithheld)).toBe(false);
  });

  it('is all that is taken away', () => {
    const value = { a: [1, 'x', null, true, { b: {} }], c: [] };
    expect(withoutWithheld(value)).toEqual(value);
  });
});

describe('portions', () => {
  const record = new InMemoryRecord();
  for (let n = 0; n < 5; n += 1) record.append('machine-7', renamed('x'.repeat(1_000)));
  const batches = record.batches();
  const size = messagesOf(EPOCH, batches[0]!).reduce((sum, { body }) => sum + body.length, 0);
  const upTo = (limit: number) => [...portionsOf(EPOCH, batches, limit)].map((portion) => portion.upTo);

  it('are whole batches in order, as many as fit', () => {
    expect(upTo(size * 2 + 10)).toEqual([2n, 4n, 5n]);
    expect(upTo(size * 10)).toEqual([5n]);
    const messages = [...portionsOf(EPOCH, batches, size * 2 + 10)].flatMap((portion) => portion.messages);
    expect(messages).toEqual(batches.flatMap((batch) => messagesOf(EPOCH, batch)));
  });

  it('hold at least one batch, however large it is', () => expect(upTo(1)).toEqual([1n, 2n, 3n, 4n, 5n]));

  it('are none where there is nothing', () => expect([...portionsOf(EPOCH, [], 1)]).toEqual([]));

  it('count bytes, not characters', () => {
    const wide = new InMemoryRecord().append('machine-7', renamed('ä'.repeat(1_000))).append('machine-7', renamed(''));
    expect([...portionsOf(EPOCH, wide.batches(), 4_500)].map((portion) => portion.upTo)).toEqual([1n, 2n]);
  });
});

it('carries a batch of a thousand checks whole', () => {
  const facts = Array.from({ length: 1_000 }, (_, revision) => ({
    kind: 'check-in' as const,
    stream: 'machine-1',
    revision,
    batch: 1n,
    recordedAt: 0,
    checkIn: checkedIn(),
  }));
  const [whole] = messagesOf(EPOCH, { number: 1n, recordedAt: 0, facts, trace: null });
  expect(decodeBatch(whole?.body ?? '')?.facts).toHaveLength(1_000);
});
