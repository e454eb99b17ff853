import { expect, it } from '@jest/globals';
import { batchMessageId, eventMessageId, eventSubject, placeOfEventId, placeOfMessageId } from './index.js';

const EPOCH = '0192f0c4-0000-7000-8000-000000000001';

it('names an event by category, type and id', () =>
  expect(eventSubject('machine-0192f0c4-0000-7000-8000-000000000002', 'MachineRenamed')).toBe(
    'rollcall.machine.MachineRenamed.0192f0c4-0000-7000-8000-000000000002',
  ));

it.each([
  ['machine-a.b>c *', 'Type', 'rollcall.machine.Type.a_b_c__'],
  ['machine-1', 'a.*.>', 'rollcall.machine.a____.1'],
  ['odd', '', 'rollcall.odd._._'],
])('keeps wildcards and dots of %j and %j out of the subject, which always has four tokens', (stream, type, subject) =>
  expect(eventSubject(stream, type)).toBe(subject),
);

it('reads back the id of a batch, and takes nothing else for one', () => {
  expect(placeOfMessageId(batchMessageId({ epoch: EPOCH, number: 9_007_199_254_740_993n }))).toEqual({
    epoch: EPOCH,
    number: 9_007_199_254_740_993n,
  });
  for (const id of ['', '-1', `${EPOCH}-`, `${EPOCH}-1x`, `${EPOCH}-${'9'.repeat(20)}`])
    expect(placeOfMessageId(id)).toBeNull();
});

it('reads back the id of a ledger event, and takes nothing else for one', () => {
  const place = { epoch: EPOCH, position: 9_007_199_254_740_993n };
  expect(placeOfEventId(eventMessageId(place))).toEqual(place);
  expect(placeOfEventId('a-x')).toBeNull();
});
