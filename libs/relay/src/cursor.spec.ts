import { describe } from '@jest/globals';
import { cursorContract } from './testing/cursor-contract.js';
import { InMemoryRelayCursor } from './testing/index.js';

describe('the cursor in memory', () => {
  cursorContract(() => Promise.resolve(new InMemoryRelayCursor()));
});
