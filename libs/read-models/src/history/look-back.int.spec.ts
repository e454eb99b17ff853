import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { admitted, checkedIn } from '@rollcall/machine/testing';
import { freshDatabase, type FreshDatabase } from '../../../../test/support/postgres.js';
import { applyBatches } from '../apply.js';
import { openReadModels, type ReadModelDatabase } from '../database.js';
import { RecordBuilder, torn } from '../testing/index.js';
import { HistoryQueries } from './queries.js';
import { historyModel } from './store.js';

const [SICK, RESTLESS] = ['0192f0c4-0000-7000-8000-000000000001', '0192f0c4-0000-7000-8000-000000000002'];
const blockers = (...codes: string[]) => ({ type: 'BlockersChanged', blockers: codes }) as const;
const FULL = 'the disk is full (disk-full)';

let fresh: FreshDatabase;
let database: ReadModelDatabase;
const record = new RecordBuilder();

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openReadModels({ connectionString: fresh.url });
  record.record(SICK, admitted({ name: 'sick' }), blockers('disk-full'), checkedIn());
  record.after(600).record(SICK, blockers('disk-full', 'stops-at-logout'), torn('BlockersChanged'), checkedIn());
  record.after(600).record(SICK, blockers('stops-at-logout'), checkedIn());
  const turns = Array.from({ length: 600 }, () => [blockers('clock-wrong', 'disk-full'), blockers('disk-full')]);
  record.record(RESTLESS, admitted(), blockers('disk-full'), ...turns.flat());
  record.after(60).record(RESTLESS, blockers('clock-wrong'));
  record.after(60).record(RESTLESS, blockers());
  await database
    .updateTable('read_model')
    .set({ epoch: await record.epoch() })
    .execute();
  const place = { epoch: await record.epoch(), checkpoint: 0n, heardUntil: null, gapEnd: null, trail: '' };
  await applyBatches(database, historyModel, place, record.batches(), 10_000);
});
afterAll(async () => {
  await database.destroy();
  await fresh.drop();
});

const newest = async (machine: string, limit: number): Promise<readonly string[]> =>
  (await new HistoryQueries(database, record).of(machine, { limit }))?.entries.map(({ sentence }) => sentence) ?? [];

it('tells of a blocker that ended how long it had lasted, also when it began before the page (O32)', async () => {
  expect((await newest(SICK, 100)).toReversed()).toEqual([
    'admitted by person anna with an enrolment token as "sick"',
    `cannot take work any more: ${FULL}`,
    'checked in once',
    'note: the agent stops when its user logs out (stops-at-logout)',
    'BlockersChanged, which this version cannot read (body-unreadable)',
    'checked in once',
    `can take work again; ${FULL} lasted 20 min`,
    'checked in once',
  ]);
  expect(await newest(SICK, 2)).toEqual(['checked in once', `can take work again; ${FULL} lasted 20 min`]);
});

it('says no duration of a blocker that began further back than it looks, and never a wrong one', async () => {
  expect(await newest(RESTLESS, 2)).toEqual([
    'can take work again; the clock is wrong (clock-wrong) lasted 60 s',
    `one more reason not to take work: the clock is wrong (clock-wrong); ${FULL} is over`,
  ]);
});
