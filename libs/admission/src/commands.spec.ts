import { expect, it } from '@jest/globals';
import { tokenIdOf, tokenStream } from './commands.js';

it('names the stream of a token by its id, and back', () => {
  expect(tokenStream('0192f0c4-01')).toBe('token-0192f0c4-01');
  expect(tokenIdOf('token-0192f0c4-01')).toBe('0192f0c4-01');
});
