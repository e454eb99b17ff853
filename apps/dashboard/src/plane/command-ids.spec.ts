import { expect, it } from '@jest/globals';
import { CommandIds } from './command-ids.js';

it('gives the same thing one id, however often it is tried, and another thing another one', () => {
  const ids = new CommandIds();
  const approval = { how: 'approve', code: 'WDJB-MJHT', node: 'forge' };
  expect(ids.of({ ...approval })).toBe(ids.of({ ...approval }));
  const others = [approval, { ...approval, node: 'anvil' }, { ...approval, how: 'refuse' }];
  expect(new Set(others.map((each) => ids.of(each))).size).toBe(3);
});
