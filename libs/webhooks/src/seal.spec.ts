import { randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { NotUnsealed } from './index.js';
import { seal, unseal } from './seal.js';

const key = randomBytes(32);

it('opens what was sealed with the same key in the same place, and nothing else (I10)', () => {
  const sealed = seal(key, 'a/url', 'https://hooks.example/ä?key=1');
  expect(unseal(key, 'a/url', sealed)).toBe('https://hooks.example/ä?key=1');
  expect(sealed.toString('latin1')).not.toContain('hooks');
  const changed = Buffer.from(sealed);
  changed[14]! ^= 1;
  for (const open of [
    () => unseal(randomBytes(32), 'a/url', sealed),
    () => unseal(key, 'b/url', sealed),
    () => unseal(key, 'a/secret', sealed),
    () => unseal(key, 'a/url', changed),
    () => unseal(key, 'a/url', sealed.subarray(0, -1)),
    () => unseal(key, 'a/url', Buffer.alloc(0)),
  ])
    expect(open).toThrow(NotUnsealed);
});

it('never seals the same text in the same bytes twice', () =>
  expect(seal(key, 'a/url', 'x').equals(seal(key, 'a/url', 'x'))).toBe(false));
