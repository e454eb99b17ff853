import { expect, it } from '@jest/globals';
import { CodeStarts } from './code-starts.js';
import { PollPace } from './poll-pace.js';

it('finds a question too fast before its interval, which grows for good by each of them, up to a minute (O12)', () => {
  const pace = new PollPace();
  expect([pace.isTooFast('a', 0), pace.isTooFast('a', 5_000)]).toEqual([false, false]);
  expect([pace.isTooFast('a', 6_000), pace.isTooFast('a', 15_000), pace.isTooFast('a', 30_000)]).toEqual([
    true,
    true,
    false,
  ]);
  let now = 30_000;
  for (let question = 0; question < 20; question += 1) pace.isTooFast('a', (now += 1));
  expect([pace.isTooFast('a', now + 60_000), pace.isTooFast('b', now)]).toEqual([false, false]);
});

it('makes a thousand codes within the life of one, and no more', () => {
  const starts = new CodeStarts();
  for (let code = 0; code < 1_000; code += 1) starts.count(code);
  expect(() => starts.count(1_000)).toThrow('slow-down');
  starts.count(600_001);
});
