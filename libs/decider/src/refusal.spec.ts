import { expect, it } from '@jest/globals';
import { Refusal } from './refusal.js';

it('is an error that says its code, for whoever lets it through', () => {
  expect(String(new Refusal('stale-check'))).toBe('Refusal: stale-check');
  expect(new Refusal('stale-check').details).toEqual({});
  expect(new Refusal('stale-check', { highestBoot: 3 })).toMatchObject({
    code: 'stale-check',
    details: { highestBoot: 3 },
  });
});
