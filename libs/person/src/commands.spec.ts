import { expect, it } from '@jest/globals';
import { personIdOf, personStream } from './commands.js';

it('names the stream of a person by their id, and back', () => {
  expect(personStream('0192f0c4-01')).toBe('person-0192f0c4-01');
  expect(personIdOf('person-0192f0c4-01')).toBe('0192f0c4-01');
});
