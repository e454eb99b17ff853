import { expect, it } from '@jest/globals';
import { machine, machineStream } from '@rollcall/machine';
import { admit, keyHash } from '@rollcall/machine/testing';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { freshDatabase } from '../../../test/support/postgres.js';
import { PostgresEventStore } from './index.js';

const MIGRATION = join(import.meta.dirname, '../../../infra/migrations/0016_nodes.sql');

it('lets the machines that were admitted before hold their nodes, and those that were deleted have held them (N19)', async () => {
  const database = await freshDatabase();
  const store = await PostgresEventStore.connect({ connectionString: database.url });
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  try {
    const actor = { kind: 'person', id: 'person-1' } as const;
    for (const number of [1, 2]) {
      const machineId = randomUUID();
      const token = { ...admit().token, id: `token-${number}`, expiresAt: Number.MAX_SAFE_INTEGER };
      const identifierHash = `identifier-${number}`;
      const command = admit({ machineId, nodeId: `n-${number}`, token, identifierHash, keyHash: keyHash(number) });
      await store.decide(machine, { stream: machineStream(machineId) }, command, { actor });
      if (number === 2)
        await store.decide(machine, { stream: machineStream(machineId) }, { type: 'DeleteMachine' }, { actor });
    }
    const held = async () =>
      (await owner.query("select key, stream, released from claim where key like 'node:%' order by key")).rows;
    const asDecided = await held();
    expect(asDecided).toMatchObject([
      { key: 'node:n-1', released: false },
      { key: 'node:n-2', released: true },
    ]);
    await owner.query("delete from claim where key like 'node:%'");
    const sql = await readFile(MIGRATION, 'utf8');
    await owner.query(sql.slice(sql.indexOf('insert into claim')));
    expect(await held()).toEqual(asDecided);
  } finally {
    await owner.end();
    await store.close();
    await database.drop();
  }
});
