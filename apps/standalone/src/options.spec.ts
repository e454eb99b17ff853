import { expect, it } from '@jest/globals';
import { readOptions } from './options.js';

const read = (...args: readonly string[]) =>
  readOptions(['node', 'main.js', ...args], { userName: 'ada', directory: '/home/ada' });

it('takes a relative directory from where the person is, and the default from the checkout (U8)', () => {
  expect(read('--data', 'plane').data).toBe('/home/ada/plane');
  expect(read('--data', '/srv/plane').data).toBe('/srv/plane');
  expect(read().data).toBe('.rollcall');
});
