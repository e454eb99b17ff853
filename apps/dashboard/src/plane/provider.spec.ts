import { expect, it } from '@jest/globals';
import { problemIn } from './provider.js';

it('says in words of its own what went wrong at the identity provider, whatever an address says', () => {
  expect(problemIn('?problem=account-refused')).toContain('Nobody on this plane is linked to that account');
  expect(problemIn('')).toBe('');
  for (const other of ['toString', '<b>call 555</b>'])
    expect(problemIn(`?problem=${encodeURIComponent(other)}`)).toBe('That did not work. Begin again here.');
});
