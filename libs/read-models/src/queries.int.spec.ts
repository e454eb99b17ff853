import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { admitted, checkedIn, deleted } from '@rollcall/machine/testing';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { applyBatches } from './apply.js';
import { Follower } from './follow.js';
import {
  historyModel,
  HistoryQueries,
  MachineQueries,
  openReadModels,
  presenceModel,
  type ReadModelDatabase,
} from './index.js';
import { RecordBuilder } from './testing/index.js';

/** Machine n of seven: 1 to 5 present, 6 silent, 7 deleted. */
const id = (n: number): string => `0192f0c${n}-0000-7000-8000-000000000000`;

let fresh: FreshDatabase;
let database: ReadModelDatabase;
let machines: MachineQueries;
let histories: HistoryQueries;

const record = new RecordBuilder(Date.now() - 900_000);

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openReadModels({ connectionString: fresh.url });
  machines = new MachineQueries(database, record);
  histories = new HistoryQueries(database, record);

  for (let n = 1; n <= 7; n += 1)
    record.record(id(n), admitted({ name: n === 3 ? 'Build_Box' : `node ${n % 2}` }), checkedIn());
  record.record(id(5), {
    type: 'SelfReportChanged',
    hostname: 'build.example',
    agentVersion: null,
    platform: null,
    arch: null,
  });
  record.record(id(7), deleted());
  record.after(300);
  for (let mark = 0; mark < 60; mark += 1) record.after(10).mark();
  for (let n = 1; n <= 5; n += 1) record.record(id(n), checkedIn());

  for (const model of [presenceModel, historyModel]) {
    // One look adopts the epoch; the rest needs no loop.
    const over = new AbortController();
    const follower = new Follower({ database, store: record, model, log: { info: () => {}, warn: () => {} } });
    const running = follower.run(over.signal);
    while (follower.status().place?.checkpoint !== (await record.newest()).number) {
      await new Promise((resume) => setImmediate(resume));
    }
    over.abort();
    await running;
  }
});
afterAll(async () => {
  await database.destroy();
  await fresh.drop();
});

const ids = ({ machines: found }: { machines: readonly { id: string }[] }): string[] =>
  found.map((machine) => machine.id);

it('lists machines page by page, without those that were deleted', async () => {
  const first = await machines.list({ limit: 4 });
  expect([ids(first), first.next]).toEqual([[id(1), id(2), id(3), id(4)], id(4)]);
  const second = await machines.list({ limit: 4, after: first.next });
  expect([ids(second), second.next]).toEqual([[id(5), id(6)], null]);
  expect(ids(await machines.list({ includeDeleted: true }))).toHaveLength(7);
});

it('lists the absent ones over pages of their own (O22)', async () => {
  expect(await machines.list({ presence: 'absent' })).toMatchObject({
    machines: [{ id: id(6), lifecycle: 'unknown' }],
    next: null,
  });
  const present = await machines.list({ presence: 'present', limit: 2, after: id(1) });
  expect([ids(present), present.next]).toEqual([[id(2), id(3)], id(3)]);
});

it('looks for a part of the name or of the hostname, in any case and literally', async () => {
  expect(ids(await machines.list({ name: 'bUiLd' }))).toEqual([id(3), id(5)]);
  expect(ids(await machines.list({ name: 'd_b' }))).toEqual([id(3)]);
  expect(ids(await machines.list({ name: '%' }))).toEqual([]);
});

it('finds what somebody can mean: an id, a prefix of eight, an exact name, several for one name', async () => {
  expect(ids(await machines.find(id(2)))).toEqual([id(2)]);
  expect(ids(await machines.find('0192f0c2'))).toEqual([id(2)]);
  expect(ids(await machines.find('0192f0c'))).toEqual([]);
  expect(ids(await machines.find('node 0'))).toEqual([id(2), id(4), id(6)]);
  expect(ids(await machines.find('build_box'))).toEqual([]);
  expect(ids(await machines.find("'; drop table presence_machine; --"))).toEqual([]);
});

it('answers a deleted machine by its id, and not for a name that a living one has (O31)', async () => {
  expect((await machines.find(id(7))).machines).toMatchObject([{ lifecycle: 'deleted' }]);
  expect(ids(await machines.find('node 1'))).toEqual([id(1), id(5)]);
});

it('reads a history from either end, with the times in which nobody listened (B1)', async () => {
  const newestFirst = await histories.of(id(1), { limit: 2 });
  expect(newestFirst).toMatchObject({
    behind: expect.any(Boolean),
    machine: { id: id(1), name: 'node 1' },
    entries: [{ sentence: 'checked in once' }, { kind: 'not-observed' }, { sentence: 'checked in once' }],
  });
  const oldestFirst = await histories.of(id(1), { order: 'oldest-first' });
  expect(oldestFirst?.entries.map(({ kind }) => kind)).toEqual(['event', 'checks', 'not-observed', 'checks']);
  const beginning = await histories.of(id(1), { order: 'oldest-first', limit: 1 });
  expect(beginning?.entries.map(({ kind }) => kind)).toEqual(['event']);
});

it('ends the history of a deleted machine with its deletion (O31)', async () => {
  const history = await histories.of(id(7), { order: 'oldest-first', nameOf: () => 'Anna' });
  expect(history?.entries.map(({ sentence }) => sentence)).toEqual([
    'admitted by Anna with an enrolment token as "node 1"',
    'checked in once',
    'deleted by Anna',
  ]);
});

it('knows nothing of a machine that is not in the record', async () => {
  expect(await histories.of('nobody')).toBeNull();
  expect(ids(await machines.find('nobody'))).toEqual([]);
});

it('changes nothing for a reader whose place is not the read model’s', async () => {
  const place = { epoch: 'epoch-0', checkpoint: 0n, heardUntil: null, gapEnd: null, trail: '' };
  expect(await applyBatches(database, presenceModel, place, record.batches(), 15)).toBeNull();
});
