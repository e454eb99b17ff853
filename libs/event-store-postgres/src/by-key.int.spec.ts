import { randomUUID } from 'node:crypto';
import { credentialKey, machine, machineStream } from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';
import { expect, it } from '@jest/globals';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase } from '../../../test/support/postgres.js';
import { PostgresEventStore } from './index.js';

const [ROUNDS, TOGETHER] = [10, 50];
const actor = { kind: 'person', id: 'test' } as const;

it('never reads a whole table to record, also where nobody has analysed them yet (C15)', async () => {
  const database = await freshDatabase();
  const owner = await Owner.connect(database.ownerUrl);
  // Nobody comes to the rescue while the test runs.
  await owner.rows(
    ['claim', 'stream_head', 'event'].map((table) => `alter table ${table} set (autovacuum_enabled = false)`).join(';'),
  );
  const store = await PostgresEventStore.connect({ connectionString: database.url });
  const admitOne = (index: number) =>
    store.decide(
      machine,
      { stream: machineStream(randomUUID()) },
      {
        ...admit({ machineId: randomUUID(), keyHash: hashOf(index), identifierHash: `identifier-${index}` }),
        token: { id: `token-${index}`, expiresAt: Date.now() + 3_600_000, owner: 'person-1', name: null },
      },
      { actor },
    );
  const checkIn = (index: number) =>
    store.decide(machine, { claim: credentialKey(hashOf(index)) }, check({ keyHash: hashOf(index) }), {
      actor,
      commandId: null,
    });
  // More rounds than after which Postgres keeps one plan for all, of more questions than it expects in one.
  for (let round = 0; round < ROUNDS; round += 1) {
    const together = Array.from({ length: TOGETHER }, (_, place) => round * TOGETHER + place);
    await Promise.all(together.map(admitOne));
    await Promise.all(together.map(checkIn));
    await Promise.all(together.map((index) => store.view(machine, { claim: credentialKey(hashOf(index)) })));
  }
  // A session tells what it did when it ends.
  await store.close();
  const read = await owner.rows<{ table: string; scanned: number; fetched: number }>(
    `select relname as table, seq_tup_read::integer as scanned, idx_tup_fetch::integer as fetched from pg_stat_user_tables
     where relname in ('claim', 'stream_head', 'event')`,
  );
  // By an index too: a few rows for each machine, whatever else is there.
  expect(read.filter(({ scanned, fetched }) => scanned > 0 || fetched > 10 * ROUNDS * TOGETHER)).toEqual([]);
  await owner[Symbol.asyncDispose]();
  await database.drop();
});

const hashOf = (index: number) => index.toString(16).padStart(64, '0');
