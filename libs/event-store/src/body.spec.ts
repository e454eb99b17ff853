import { expect, it } from '@jest/globals';
import { bodyOf, storable, Unstorable } from './body.js';

it('limits a body by its bytes and not by its characters', () => {
  const of = (length: number) => () => bodyOf({ type: 'Said', text: 'ä'.repeat(length) } as { type: string });
  const around = '{"text":""}'.length;
  expect(of((32_768 - around - 1) / 2)).not.toThrow();
  expect(of((32_768 - around + 1) / 2)).toThrow(Unstorable);
});

it.each(['\u0000', '\ud800'])('refuses %j in a key as it does in a text', (key) =>
  expect(() => bodyOf({ type: 'Said', fields: { [key]: 1 } } as { type: string })).toThrow('Said.fields (a key)'),
);

it('refuses a state that would not come back as it was, before anything is sent', () => {
  expect(storable({ kept: 1, dropped: undefined }, 'the state of tally-a')).toBe('{"kept":1}');
  expect(() => storable({ ratio: 0.5 }, 'the state of tally-a')).toThrow('the state of tally-a.ratio');
});
