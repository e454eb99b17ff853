import { expect, it } from '@jest/globals';
import { readOptions } from './options.js';

const read = (...args: readonly string[]) =>
  readOptions(['node', 'main.js', ...args], { userName: 'ada', directory: '/home/ada' });

it('takes a relative directory from where the person is, and the default from the checkout (U8)', () => {
  expect(read('--data', 'plane').data).toBe('/home/ada/plane');
  expect(read('--data', '/srv/plane').data).toBe('/srv/plane');
  expect(read().data).toBe('.rollcall');
});

it('takes an interval that agents follow, and a shorter one only with the shorter window of a test (C10)', () => {
  expect(read('--interval', '60')).toMatchObject({ interval: 60 });
  expect(read('--interval', '1', '--window-floor', '4')).toMatchObject({ interval: 1, windowFloor: 4 });
});
