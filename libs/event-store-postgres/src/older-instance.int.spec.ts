import { expect, it } from '@jest/globals';
import { checkOf, tally } from '@rollcall/event-store/testing';
import { machineStream } from '@rollcall/machine';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { freshDatabase } from '../../../test/support/postgres.js';
import { PostgresLog } from './index.js';
import { appendValues } from './rows.js';
import * as sql from './sql.js';

it('goes on recording for an instance of the version before, which knows nothing of traces', async () => {
  const database = await freshDatabase();
  const log = new PostgresLog({ connectionString: database.url });
  const older = new pg.Client({ connectionString: database.url });
  await older.connect();
  try {
    const stream = machineStream(randomUUID());
    const head = {
      stream,
      expected: 0,
      fresh: true,
      revision: 1,
      fold: tally.fold,
      state: '{}',
      events: [],
      claims: [],
    };
    const values = appendValues([{ ...head, checkIns: [{ revision: 1, checkIn: checkOf(stream, 1) }] }], null, {});
    await older.query(sql.APPEND.replace(', $35::text', ''), values.slice(0, 34));
    expect(await log.readBatches(0n, 10)).toMatchObject([{ number: 1n, facts: [{ stream }], trace: null }]);
  } finally {
    await older.end();
    await log.close();
    await database.drop();
  }
});
