import { afterEach, expect, it } from '@jest/globals';
import { tellTouches } from './touched.js';

const { fetch: fetched } = globalThis;
afterEach(() => void Object.assign(globalThis, { fetch: fetched }));

it('tells the plane that somebody is there once in a minute while the page is touched, and nothing while it is not', () => {
  const asked: unknown[] = [];
  const fetch = (path: string, { headers }: RequestInit) => {
    asked.push([path, headers]);
    return Promise.reject(new TypeError('nobody answers'));
  };
  Object.assign(globalThis, { fetch });
  let now = 0;
  const page = new EventTarget();
  const stop = tellTouches(page, () => now);
  expect(asked).toEqual([]);
  for (now of [0, 59_999, 60_000, 60_001]) page.dispatchEvent(new Event('keydown'));
  const told = ['/v1/me', { 'x-rollcall-by-hand': '1' }];
  expect(asked).toEqual([told, told]);
  stop();
  now = 200_000;
  page.dispatchEvent(new Event('keydown'));
  expect(asked).toHaveLength(2);
});
