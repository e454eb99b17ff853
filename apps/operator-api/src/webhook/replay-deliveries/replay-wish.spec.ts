import { expect, it } from '@jest/globals';
import type { ReplayWebhookRequest } from '@rollcall/wire';
import { replayWish } from './replay-wish.js';

const [noon, one] = ['2026-01-01T12:00:00Z', '2026-01-01T14:00:00+01:00'];

it('sends again one delivery, or those of a time with or without types, in the record’s own words (U5)', () => {
  expect(replayWish({ eventId: 'e1' })).toEqual({ eventId: 'e1' });
  expect(replayWish({ from: noon, to: one })).toEqual({
    from: '2026-01-01T12:00:00.000Z',
    to: '2026-01-01T13:00:00.000Z',
    types: [],
  });
  expect(replayWish({ from: noon, to: one, types: ['machine.absent'] })).toMatchObject({ types: ['machine.absent'] });
});

it.each<[string, string, Omit<ReplayWebhookRequest, 'commandId'>]>([
  ['nothing', 'from', {}],
  ['no end', 'to', { from: noon }],
  ['no beginning', 'from', { to: noon }],
  ['an end that is not after the beginning', 'to', { from: noon, to: noon }],
  ['both', 'eventId', { eventId: 'e1', from: noon }],
  ['one and types', 'eventId', { eventId: 'e1', types: [] }],
])('refuses %s, and names %s', (_, field, wish) =>
  expect(() => replayWish(wish)).toThrow(
    expect.objectContaining({ code: 'invalid-body', details: { errors: [expect.objectContaining({ field })] } }),
  ),
);
