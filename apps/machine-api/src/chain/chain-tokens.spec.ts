import { expect, it } from '@jest/globals';
import { ChainTokens } from './chain-tokens.js';

const EPOCH = '0192f0c4-0000-7000-8000-0000000000ee';
const PLACE = { machine: '0192f0c4-0000-7000-8000-000000000001', epoch: EPOCH };
const tokens = new ChainTokens(Buffer.alloc(32, 1));

it('reads back what any instance with the same key issued', () => {
  const token = new ChainTokens(Buffer.alloc(32, 1)).issue(PLACE, 42);
  expect(token).toMatch(/^[0-9a-f-]{36}\.42\.[A-Za-z0-9_-]{43}$/);
  expect(tokens.read(PLACE, token)).toBe(42);
  expect(tokens.read(PLACE, tokens.issue(PLACE, 0))).toBe(0);
});

it.each([
  ['another machine', tokens.issue({ ...PLACE, machine: '0192f0c4-0000-7000-8000-000000000002' }, 1)],
  ['another epoch', tokens.issue({ ...PLACE, epoch: '0192f0c4-0000-7000-8000-0000000000ff' }, 1)],
  ['another key', new ChainTokens(Buffer.alloc(32, 2)).issue(PLACE, 1)],
  ['another number', tokens.issue(PLACE, 1).replace('.1.', '.2.')],
  ['a number in another form', tokens.issue(PLACE, 1).replace('.1.', '.01.')],
  ['half of it', tokens.issue(PLACE, 1).slice(0, -1)],
  ['more than it', `${tokens.issue(PLACE, 1)}A`],
  ['nothing', ''],
])('does not take a token of %s for one of its own', (_, token) => expect(tokens.read(PLACE, token)).toBeNull());

it('knows what it issued last, for that machine and in that epoch only', () => {
  const own = new ChainTokens(Buffer.alloc(32, 1));
  const token = own.issue(PLACE, 7);
  expect(own.read(PLACE, token)).toBe(7);
  expect(own.read({ ...PLACE, epoch: '0192f0c4-0000-7000-8000-0000000000ff' }, token)).toBeNull();
  expect(own.read({ ...PLACE, machine: '0192f0c4-0000-7000-8000-000000000002' }, token)).toBeNull();
  // Two are good at a time: the one before, after a lost answer, is sealed and compared.
  own.issue(PLACE, 8);
  expect(own.read(PLACE, token)).toBe(7);
});
