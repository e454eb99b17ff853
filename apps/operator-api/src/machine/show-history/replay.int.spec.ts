import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { EventStore } from '@rollcall/event-store';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import {
  credentialKey,
  machine,
  machineStream,
  refusals,
  refusalsStream,
  type MachineCommand,
} from '@rollcall/machine';
import { admit, boot, check } from '@rollcall/machine/testing';
import {
  FACTS_OF_A_PAGE,
  GAPS_OF_A_PAGE,
  readReplayPlace,
  refusedUses,
  ReplayQueries,
  type ReadPage,
} from '@rollcall/read-models';
import type { HistoryEntry, HistoryPage } from '@rollcall/wire';
import { amount, inDigits } from '../../../../../test/support/amount.js';
import { addChecks } from '../../../../../test/support/long-record.js';
import { Owner } from '../../../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../../../test/support/postgres.js';
import { RecordClock } from '../../../../../test/support/record-clock.js';
const CHECKS = amount({ usual: 45_000, whole: 1_000_000 });
jest.setTimeout(amount({ usual: 60_000, whole: 600_000 }));

let fresh: FreshDatabase;
let store: PostgresEventStore;
// Nothing follows the record here: what is told is told without any read model.
beforeAll(async () => {
  fresh = await freshDatabase();
  store = await PostgresEventStore.connect({ connectionString: fresh.url });
});
afterAll(async () => {
  await store.close();
  await fresh.drop();
});

const utc = (instant: number) => new Date(instant).toISOString();
const hash = () => randomUUID().replaceAll('-', '').repeat(2);

/** A machine that joined, and what it does. */
const join = async (name: string, record = store) => {
  const [id, keyHash] = [randomUUID(), hash()];
  let sequence = 0;
  const does = (command: MachineCommand) =>
    record.decide(machine, { stream: machineStream(id) }, command, { actor: { kind: 'person', id: 'anna' } });
  const checks = (over: object = {}) => {
    sequence += 1;
    const command = check({ keyHash, boot: boot(1), sequence, checkId: randomUUID(), ...over });
    return record.decide(machine, { claim: credentialKey(command.keyHash) }, command, {
      actor: { kind: 'machine', id },
      commandId: null,
    });
  };
  const token = { id: randomUUID(), expiresAt: Date.now() + 3_600_000, owner: 'anna', name };
  await does(admit({ machineId: id, nodeId: randomUUID(), token, identifierHash: hash(), keyHash }));
  return { id, keyHash, does, checks };
};

const pagesOf = async (
  id: string,
  query: Omit<ReadPage, 'after'> = {},
  record: Pick<EventStore, 'newest' | 'view' | 'readPast' | 'readStreamAfter' | 'readGaps'> = store,
): Promise<readonly HistoryPage[]> => {
  const replay = new ReplayQueries(record);
  const pages: HistoryPage[] = [];
  for (let after: ReadPage['after'] = null; ;) {
    const page = (await replay.page(id, { ...query, after }))!;
    pages.push(page);
    if (page.next === null) return pages;
    after = readReplayPlace(page.next);
  }
};
const entriesOf = (pages: readonly HistoryPage[]): readonly HistoryEntry[] => pages.flatMap(({ entries }) => entries);
const told = (entries: readonly HistoryEntry[]) => entries.map(({ sentence }) => sentence);

it('tells a whole life from the record alone, to the last fact, in pages of any length (U4, O31)', async () => {
  const { id, keyHash, does, checks } = await join('forge');
  await checks();
  await checks({ blockers: ['disk-full'] });
  await checks({ blockers: [] });
  const next = hash();
  await does({ type: 'StartRotation', keyHash, nextKeyHash: next });
  await checks({ keyHash: next, said: 'stopping', reason: 'update' });
  await does({ type: 'RenameMachine', name: 'anvil' });
  await does({ type: 'DeleteMachine' });

  const [whole, ...more] = await pagesOf(id);
  expect(more).toEqual([]);
  expect(whole?.machine).toEqual({ id, name: 'anvil' });
  expect(whole?.facts.through).toBe(whole?.facts.recorded);
  expect(told(whole?.entries ?? [])).toEqual([
    'admitted by person anna with an enrolment token as "forge"',
    'credential 1 registered',
    'credential 1 used for the first time',
    'the agent started (start 1)',
    'checked in once',
    'cannot take work any more: the disk is full (disk-full)',
    'checked in once',
    'can take work again; the disk is full (disk-full) lasted 0 s',
    'checked in once',
    'credential 2 registered',
    'credential 2 used for the first time',
    'said it would stop: update',
    'checked in once, stopping',
    'renamed to "anvil" by person anna',
    'deleted by person anna',
  ]);
  for (const limit of [1, 2, 7]) {
    const pages = await pagesOf(id, { limit });
    expect(pages.filter(({ entries }) => entries.length > limit)).toEqual([]);
    expect(told(entriesOf(pages))).toEqual(told(whole?.entries ?? []));
  }
});

it('tells the refused uses of a credential where they happened, also after the end of its machine (B7, U4)', async () => {
  const { id, keyHash, does, checks } = await join('gone');
  await checks();
  await does({ type: 'DeleteMachine' });
  const refused = { machine: id, code: 'credential-revoked', generation: 1, keyHash, lastAcceptedAt: null } as const;
  await store.decide(
    refusals,
    { stream: refusalsStream(id) },
    { type: 'NoteRefusal', ...refused },
    {
      actor: { kind: 'plane', id: 'plane' },
    },
  );
  for (const limit of [1, 100]) {
    const entries = entriesOf(await pagesOf(id, { limit }));
    expect(told(entries).slice(-2)).toEqual([
      'deleted by person anna',
      'credential 1 was refused (credential-revoked)',
    ]);
    expect(entries.at(-1)).toMatchObject({ kind: 'refused', generation: 1, keyHash });
  }
  const replay = new ReplayQueries(store);
  expect(await refusedUses(replay, id)).toMatchObject([{ kind: 'refused', code: 'credential-revoked', keyHash }]);
  expect(await refusedUses(replay, randomUUID())).toEqual([]);
});

it('tells nothing of a machine of which nothing is recorded', async () =>
  expect(await new ReplayQueries(store).page(randomUUID(), { after: null })).toBeNull());

it('never passes over a fact that is missing', async () => {
  const { id, checks } = await join('torn');
  await checks();
  const whole = (await pagesOf(id))[0]?.facts.recorded ?? 0;
  await using owner = await Owner.connect(fresh.ownerUrl);
  await owner.rows(`update stream_head set revision = revision + 1 where stream = 'machine-' || $1`, [id]);
  await addChecks(fresh.ownerUrl, id, 3);
  await expect(pagesOf(id)).rejects.toThrow(`a fact is missing after revision ${whole} of machine-${id}`);
});

it(`tells ${inDigits(CHECKS)} checks in pages that hold a bounded number of facts each (U4)`, async () => {
  const { id, checks, does } = await join('old');
  await checks();
  await addChecks(fresh.ownerUrl, id, CHECKS - 1);
  await does({ type: 'DeleteMachine' });
  let [read, most] = [0, 0];
  const counting = {
    newest: () => store.newest(),
    view: store.view.bind(store),
    readPast: store.readPast.bind(store),
    readGaps: store.readGaps.bind(store),
    readStreamAfter: async (...[stream, place, limit]: Parameters<EventStore['readStreamAfter']>) => {
      const facts = await store.readStreamAfter(stream, place, limit);
      read += facts.length;
      most = Math.max(most, facts.length);
      return facts;
    },
  };
  const pages = await pagesOf(id, {}, counting);
  expect(pages).toHaveLength(Math.ceil((CHECKS + 6) / FACTS_OF_A_PAGE));
  expect(most).toBeLessThanOrEqual(2_000);
  expect(read).toBeLessThanOrEqual(CHECKS + 6 + pages.length);
  const entries = entriesOf(pages);
  expect(entries.reduce((sum, entry) => sum + (entry.kind === 'checks' ? entry.count : 0), 0)).toBe(CHECKS);
  expect(entries.filter((entry) => entry.kind === 'checks').map(({ continues = false }) => continues)).toEqual(
    pages.map((_page, index) => index > 0),
  );
  expect(entries.at(-1)).toMatchObject({ kind: 'event', type: 'MachineDeleted' });

  // A day of it, and nothing beside it.
  const [first] = entries;
  const from = Date.parse(first?.at ?? '') + 86_400_000;
  const day = entriesOf(await pagesOf(id, { from, to: from + 3_600_000 }));
  expect(day).toMatchObject([{ kind: 'checks', count: 120 }]);
});

it('tells when the plane was deaf in the life of a machine, page by page, and nothing of the time before or after (B1, U4)', async () => {
  const own = await freshDatabase();
  const record = await PostgresEventStore.connect({ connectionString: own.url });
  await using clock = await RecordClock.of(own);
  await using owner = await Owner.connect(own.ownerUrl);
  // So many marks with a pause before each, as `append` makes them.
  const deaf = async (times: number) => {
    await clock.pass(20 * times);
    await owner.rows(
      `insert into batch (number, recorded_at, events, checks, heard_before)
       select m.number + n, m.recorded_at + n * interval '20 s', 0, 0, m.recorded_at + (n - 1) * interval '20 s'
       from (select number, recorded_at from batch order by number desc limit 1) m, generate_series(1, $1::integer) n`,
      [times],
    );
  };
  await record.mark(0);
  await deaf(2);
  const { id, does, checks } = await join('deaf', record);
  const first = await checks();
  await clock.pass(60);
  await does({ type: 'RenameMachine', name: 'renamed while nobody listened' });
  expect((await pagesOf(id, {}, record))[0]).toMatchObject({ asOf: utc(first.recordedAt), behind: true });
  await clock.pass(60);
  await record.mark(0);
  await deaf(GAPS_OF_A_PAGE + 3);
  const last = await checks();
  await does({ type: 'DeleteMachine' });
  await deaf(2);

  const pages = await pagesOf(id, {}, record);
  expect(pages.map(({ behind }) => behind)).toEqual([false, false]);
  const gapsOf = (entries: readonly HistoryEntry[]) => entries.filter(({ kind }) => kind === 'not-observed');
  expect(pages.map(({ entries }) => gapsOf(entries).length)).toEqual([GAPS_OF_A_PAGE, 4]);
  const entries = entriesOf(pages);
  expect(gapsOf(entries)[0]).toMatchObject({ at: utc(first.recordedAt), until: utc(first.recordedAt + 120_000) });
  expect(told(entries).slice(4, 7)).toEqual([
    'checked in once',
    'not observed: the plane was not listening for 2 min',
    'renamed to "renamed while nobody listened" by person anna',
  ]);
  expect(told(entries).slice(-3)).toEqual([
    'not observed: the plane was not listening for 20 s',
    'checked in once',
    'deleted by person anna',
  ]);
  expect(gapsOf(entries).at(-1)).toMatchObject({ until: utc(last.recordedAt) });
  for (const limit of [1, 3]) expect(told(entriesOf(await pagesOf(id, { limit }, record)))).toEqual(told(entries));

  // Begun before, and reaching into the time that is asked about.
  const between = { from: first.recordedAt + 90_000, to: first.recordedAt + 130_000 };
  expect(told(entriesOf(await pagesOf(id, between, record)))).toEqual([
    'not observed: the plane was not listening for 2 min',
    'not observed: the plane was not listening for 20 s',
  ]);
  await record.close();
  await own.drop();
});
