import { randomUUID } from 'node:crypto';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { credentialKey, machine, machineStream } from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Owner } from '../../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../../test/support/postgres.js';
import { RecordClock } from '../../../../test/support/record-clock.js';
import type { Subject } from '../finding.js';
import { silences } from './silences.js';

let database: FreshDatabase;
let owner: Owner;

/** Checks, a deaf time with a silence after it, a return, and a second silence. */
beforeAll(async () => {
  database = await freshDatabase();
  await using clock = await RecordClock.of(database);
  const store = await PostgresEventStore.connect({ connectionString: database.url });
  const machineId = randomUUID();
  const stream = machineStream(machineId);
  const keyHash = '1'.padStart(64, '0');
  const actor = { kind: 'person', id: 'test' } as const;
  const token = { id: randomUUID(), expiresAt: clock.now + 3_600_000, owner: 'person-1', name: null };
  await store.decide(machine, { stream }, admit({ machineId, keyHash, identifierHash: machineId, token }), { actor });
  let sequence = 0;
  const checkIn = () => {
    sequence += 1;
    const command = check({ keyHash, sequence, checkId: randomUUID() });
    return store.decide(machine, { claim: credentialKey(keyHash) }, command, { actor, commandId: null });
  };
  const listen = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 5) {
      await clock.pass(5);
      await store.decide(machine, { stream }, { type: 'RenameMachine', name: `${clock.now}` }, { actor });
      await store.mark(0);
    }
  };
  const note = (gapEnd: number | null) =>
    store.decide(machine, { stream }, { type: 'NoteSilence', heardUntil: clock.now, gapEnd }, { actor });
  await checkIn();
  await listen(30);
  await checkIn();
  await clock.pass(600);
  await store.decide(machine, { stream }, { type: 'RenameMachine', name: 'while the plane was deaf' }, { actor });
  await clock.pass(3);
  await store.mark(0);
  const gapEnd = clock.now;
  await listen(130);
  await note(gapEnd);
  await checkIn();
  await listen(130);
  await note(gapEnd);
  await store.close();
  owner = await Owner.connect(database.ownerUrl);
  await owner.rows(`alter table batch disable trigger all; alter table event disable trigger all;
    do $$ declare t regclass; begin
      for t in select inhrelid from pg_inherits where inhparent = 'check_in'::regclass union all select 'check_in'::regclass loop
        execute format('alter table %s disable trigger append_only', t);
      end loop; end $$`);
});
afterAll(async () => {
  await owner[Symbol.asyncDispose]();
  await database.drop();
});

const judgedAfter = async (damage: string) => {
  await owner.rows('begin');
  try {
    await owner.rows(damage);
    const rows = (statement: string, values?: readonly unknown[]) => owner.rows(statement, values);
    return await silences.judge({ rows, gapSeconds: 15 } as unknown as Subject);
  } finally {
    await owner.rows('rollback');
  }
};

it('finds nothing in absences that are true, over a deaf time as well (B1, O22)', async () => {
  expect(await judgedAfter('select 1')).toEqual({ examined: 3, broken: [] });
});

const silence = (changes: string) =>
  `update event set body = (body::jsonb || ${changes})::text where type = 'WentAbsent'`;
const earlier = (field: string, seconds: number) =>
  `jsonb_build_object('${field}', to_char((body::jsonb ->> '${field}')::timestamptz at time zone 'utc' - interval '${seconds} seconds', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;
const newestBatches = `(select number from batch order by number desc limit 20)`;

it('judges what the versions before recorded by what they took for an ear, which was any batch (I14)', async () => {
  const before = 'update batch set heard_before = null';
  const { broken } = await judgedAfter(before);
  expect(broken.join('\n')).toMatch(/its silence counts from .*, when nothing began/);
  const asThey = `${silence(earlier('dueAt', 3))} and revision = (select min(revision) from event where type = 'WentAbsent')`;
  expect(await judgedAfter(`${before}; ${asThey}`)).toMatchObject({ broken: [] });
});

it.each([
  ['another last check', silence(earlier('lastCheckAt', 1)), /its last check was at .*, not at/],
  [
    'a check that is gone',
    `delete from check_in where batch = (select max(batch) from check_in)`,
    /its last check was at/,
  ],
  ['a line that was not reached', silence(earlier('dueAt', -60)), /recorded at .* already/],
  ['a window that was not over', silence(earlier('dueAt', 60)), /its window was not over/],
  [
    'a silence that counts from nothing',
    silence(`jsonb_build_object('window', 119)`),
    /its silence counts from .*, when nothing began/,
  ],
  [
    'a plane that did not listen',
    `delete from batch where number in (select number from batch where number in ${newestBatches} order by number limit 10)`,
    /the plane was deaf in its window/,
  ],
  [
    'an absence that was recorded before the plane had listened so long',
    `update batch set heard_before = heard_before - interval '20 seconds' where number = (select max(batch) from event where type = 'WentAbsent')`,
    /until then the plane had listened until .* only/,
  ],
  [
    'a batch that does not say when the plane listened before it',
    `update batch set heard_before = null where number = 9`,
    /batch 9 says that the newest ear before it was at no time, and that was at/,
  ],
  [
    'a return that nobody recorded',
    `delete from event where type = 'Returned'`,
    /has CheckedIn at revision \d+ after WentAbsent/,
  ],
  ['a return from nothing', `delete from event where type = 'WentAbsent'`, /has Returned at revision \d+ after/],
  [
    'a second absence in one silence',
    `alter table event drop constraint event_event_id_key, drop constraint event_stream_command_id_ordinal_key;
     insert into event select position + 100, batch, stream, revision + 100, command_id, ordinal, event_id, type, at, actor, body, trace
     from event where type = 'WentAbsent' order by position desc limit 1`,
    /has WentAbsent at revision \d+ after WentAbsent/,
  ],
])('finds %s (I14)', async (_, damage, sentence) => {
  const { broken } = await judgedAfter(damage);
  // Without an absence nothing tells that one should be there.
  expect(broken.join('\n')).toMatch(sentence);
});
