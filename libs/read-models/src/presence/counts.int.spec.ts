import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { isBlocked } from '@rollcall/machine';
import type { MachineView, PresenceCounts } from '@rollcall/wire';
import { freshDatabase, type FreshDatabase } from '../../../../test/support/postgres.js';
import { applyBatches, type Place } from '../apply.js';
import { MachineQueries, openReadModels, presenceModel, type ReadModelDatabase } from '../index.js';
import { MemoryReadModels, runWorkload } from '../testing/index.js';
import { machineView } from './view.js';
import { LIST_LIMIT, type WhichMachines } from './queries.js';

jest.setTimeout(60_000);

let fresh: FreshDatabase;
let database: ReadModelDatabase;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openReadModels({ connectionString: fresh.url });
});
afterAll(async () => {
  await database.destroy();
  await fresh.drop();
});

/** The same counts out of what is shown of each machine. */
const counted = (views: readonly MachineView[]): PresenceCounts => {
  const held = (view: MachineView) => isBlocked({ ...view, blockers: view.blockers.map(({ code }) => code) });
  const tally = (keys: readonly object[]): Map<string, number> => {
    const found = Map.groupBy(keys, (key) => JSON.stringify(key));
    return new Map([...found].map(([key, all]) => [key, all.length]));
  };
  const states = tally(views.map(({ presence, lifecycle, canTakeWork }) => ({ presence, lifecycle, canTakeWork })));
  const stands = tally(views.flatMap(({ blockers }) => blockers.map(({ code, blocksWork }) => ({ code, blocksWork }))));
  const here = (code: string) =>
    views.filter(({ presence, blockers }) => presence === 'present' && blockers.some((one) => one.code === code))
      .length;
  return {
    total: views.length,
    blocked: views.filter(held).length,
    states: [...states].map(([key, machines]) => ({ ...JSON.parse(key), machines })),
    blockers: [...stands].map(([key, machines]) => {
      const { code, blocksWork } = JSON.parse(key) as { code: string; blocksWork: boolean };
      return { code, blocksWork, machines, present: here(code) };
    }),
  };
};
const inAnyOrder = ({ total, blocked, states, blockers }: PresenceCounts) => ({
  total,
  blocked,
  states: states.map((state) => JSON.stringify(state, Object.keys(state).sort())).sort(),
  blockers: blockers.map((blocker) => JSON.stringify(blocker, Object.keys(blocker).sort())).sort(),
});

type Question = readonly [WhichMachines, (view: MachineView) => boolean];
const QUESTIONS: readonly Question[] = [
  [{}, ({ deletedAt }) => deletedAt === null],
  [{ includeDeleted: true }, () => true],
  [{ presence: 'absent' }, ({ presence, deletedAt }) => presence === 'absent' && deletedAt === null],
  [{ presence: 'present' }, ({ presence, deletedAt }) => presence === 'present' && deletedAt === null],
  [{ presence: 'not-yet-arrived', includeDeleted: true }, ({ presence }) => presence === 'not-yet-arrived'],
  ...(['running', 'unknown', 'stopping', 'stopped'] as const).map(
    (word) => [{ lifecycle: word }, ({ lifecycle }) => lifecycle === word] as const satisfies Question,
  ),
  [{ lifecycle: 'deleted', includeDeleted: true }, ({ lifecycle }) => lifecycle === 'deleted'],
  [
    { blocker: 'disk-full' },
    (view) => view.deletedAt === null && view.blockers.some(({ code }) => code === 'disk-full'),
  ],
  [
    { blocker: 'operator-paused', presence: 'present' },
    (view) =>
      view.deletedAt === null &&
      view.presence === 'present' &&
      view.blockers.some(({ code }) => code === 'operator-paused'),
  ],
  [{ blocked: true }, (view) => isBlocked({ ...view, blockers: view.blockers.map(({ code }) => code) })],
  [
    { name: 'HOST-1' },
    ({ name, hostname, deletedAt }) =>
      deletedAt === null && [name, hostname].some((one) => one?.toLowerCase().includes('host-1')),
  ],
];

it('counts at any time what a fold of the record counts, and lists as many (U3, U7, O22)', async () => {
  let now = Date.UTC(2026, 0, 1);
  const store = new InMemoryEventStore({ now: () => now });
  await runWorkload(store, { seed: 3, facts: 4_000, machines: 120, pass: (ms) => void (now += ms) });
  const batches = await store.readBatches(0n, Number.MAX_SAFE_INTEGER);
  const machines = new Set(batches.flatMap(({ facts }) => facts.map(({ stream }) => stream)));
  const queries = new MachineQueries(database, store);
  const fold = new MemoryReadModels();
  await database.updateTable('read_model').set({ epoch: 'the one' }).where('name', '=', presenceModel.name).execute();
  let place: Place | null = { epoch: 'the one', checkpoint: 0n, heardUntil: null, gapEnd: null, trail: '' };
  const size = Math.ceil(batches.length / 12);
  const seen = new Set<string>();
  for (let from = 0; from < batches.length; from += size) {
    const next = batches.slice(from, from + size);
    place = await applyBatches(database, presenceModel, place!, next, 15);
    fold.apply(next);
    const heard = { until: place!.heardUntil, gapEnd: place!.gapEnd };
    const views = [...machines]
      .map((stream) => fold.presence(stream.slice('machine-'.length)))
      .filter((row) => row !== undefined)
      .map((row) => machineView(row, heard));
    for (const [question, isMeant] of QUESTIONS) {
      const { page, ...counts } = await queries.count({ ...question, limit: 500 });
      const meant = views.filter(isMeant);
      expect({ question, ...inAnyOrder(counts) }).toEqual({ question, ...inAnyOrder(counted(meant)) });
      expect(page?.machines.map(({ id }) => id)).toEqual(
        meant
          .map(({ id }) => id)
          .sort()
          .slice(0, 500),
      );
      if (counts.total > 0) seen.add(JSON.stringify(question));
      for (const { presence } of counts.states) seen.add(presence);
    }
  }
  // Each question was answered with machines at some time, or it would prove nothing.
  for (const [question] of QUESTIONS) expect(seen).toContain(JSON.stringify(question));
  for (const presence of ['present', 'absent', 'not-yet-arrived']) expect(seen).toContain(presence);
});

it('reads little more of the table than it shows, whatever is asked for (U3)', async () => {
  let read = 0;
  const counting = database.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => {
      read += result.rows.length;
      return Promise.resolve(result);
    },
  });
  const queries = new MachineQueries(counting, { newest: () => Promise.resolve({ number: 0n, recordedAt: 0 }) });
  const all = (await queries.count({ includeDeleted: true })).total;
  for (const presence of ['absent', 'not-yet-arrived'] as const) {
    read = 0;
    const { machines } = await queries.list({ presence, limit: LIST_LIMIT });
    expect({ presence, isLittle: read <= machines.length + 3, isFew: machines.length < all / 2 }).toEqual({
      presence,
      isLittle: true,
      isFew: true,
    });
  }
});

it('counts the machines of one person only, and none where nothing is recorded (U3)', async () => {
  const someone = await database.selectFrom('presence_machine').select('owner').limit(1).executeTakeFirstOrThrow();
  const queries = new MachineQueries(database, { newest: () => Promise.resolve({ number: 0n, recordedAt: 0 }) });
  expect(await queries.count({ owner: someone.owner, includeDeleted: true })).toMatchObject({ total: 1, page: null });
  // A name that everybody's machines have names none of theirs.
  expect(await queries.count({ owner: someone.owner, includeDeleted: true, name: '' })).toMatchObject({ total: 1 });
  expect(await queries.count({ owner: 'nobody', name: 'host' })).toMatchObject({ total: 0 });
  expect(await queries.count({ owner: 'nobody' })).toMatchObject({ total: 0, blocked: 0, states: [], blockers: [] });
});
