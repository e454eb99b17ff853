import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { Processes } from '../support/processes.js';

const processes = new Processes();
afterAll(() => processes.close());

it('finds in docs/schemas what the types of the ledger events say', async () => {
  const script = join(import.meta.dirname, '../../infra/event-schemas.mjs');
  expect(await processes.run('event-schemas', process.execPath, [script, '--check'])).toMatchObject({
    code: 0,
    output: '',
  });
});
