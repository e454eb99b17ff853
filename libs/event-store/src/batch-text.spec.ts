import { expect, it } from '@jest/globals';
import { checkedIn } from '@rollcall/machine/testing';
import { decodeBatch, encodeBatch, encodeBatchWithoutFacts, NotABatch, type Batch } from './index.js';

const place = { batch: 9_007_199_254_740_993n, recordedAt: Date.UTC(2026, 0, 1, 12, 0, 0, 7) };
const event = {
  kind: 'event',
  stream: 'machine-m1',
  ...place,
  eventId: 'e1',
  commandId: 'c1',
  actor: { kind: 'person', id: 'anna' },
} as const;
const batch: Batch = {
  number: place.batch,
  recordedAt: place.recordedAt,
  facts: [
    {
      ...event,
      revision: 1,
      position: 18_014_398_509_481_985n,
      ordinal: 0,
      event: { type: 'MachineRenamed', name: 'Größe "1"' },
      body: '{"name":"Größe \\"1\\""}',
    },
    { ...event, revision: 2, position: 18_014_398_509_481_986n, ordinal: 1, event: { type: 'Torn' }, body: '{"torn' },
    { kind: 'check-in', stream: 'machine-m2', revision: 7, ...place, checkIn: checkedIn() },
  ],
  trace: null,
};

it('gives back the same batch: big numbers, recorded bytes, and bodies that do not parse (U2)', () =>
  expect(decodeBatch(encodeBatch('epoch', batch))).toEqual(batch));

it('carries a mark, which is a batch without facts', () =>
  expect(decodeBatch(encodeBatch('epoch', { ...batch, facts: [] }))).toEqual({ ...batch, facts: [] }));

it('carries the trace of a batch, and reads one of a version that knew of none', () => {
  const traced = { ...batch, trace: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  expect(decodeBatch(encodeBatch('epoch', traced))).toEqual(traced);
  expect(encodeBatch('epoch', batch)).not.toContain('trace');
  const torn = encodeBatch('epoch', traced).replace(/"trace":"[^"]*"/, '"trace":{}');
  expect(decodeBatch(torn)).toEqual(batch);
});

it('tells a batch whose facts were left out from one that has none', () =>
  expect(decodeBatch(encodeBatchWithoutFacts('epoch', batch))).toBeNull());

const text = JSON.parse(encodeBatch('epoch', batch)) as object;
it.each([
  ['what is no JSON', '{"torn'],
  ['nothing', ''],
  ['a form from the future', JSON.stringify({ ...text, schema: 'rollcall.batch.v2' })],
  ['a batch without a number', JSON.stringify({ ...text, number: 'x' })],
  ['a batch without a time', JSON.stringify({ ...text, recordedAt: 'soon' })],
  ['a batch without a list of facts', JSON.stringify({ ...text, facts: {} })],
  ['null', 'null'],
])('takes %s for no batch', (_, wrong) => expect(() => decodeBatch(wrong)).toThrow(NotABatch));
