import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { Lifetime } from '@rollcall/lifetimes';
import {
  absenceModel,
  AbsenceWatch,
  Follower,
  historyModel,
  HistoryQueries,
  MachineQueries,
  openReadModels,
  presenceModel,
  type ReadModelDatabase,
} from '@rollcall/read-models';
import { ClockedFleet } from '../../../test/support/clocked-fleet.js';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { RecordClock } from '../../../test/support/record-clock.js';

const QUIET = { info: () => undefined, warn: () => undefined };
const MODELS = [presenceModel, historyModel, absenceModel];
const SIZE = 20;
const HOUR = 3_600;

let fresh: FreshDatabase;
let clock: RecordClock;
let store: PostgresEventStore;
let readModels: ReadModelDatabase;
let fleet: ClockedFleet;
let projector: Lifetime | null;
/** How often a list was looked at, and what it showed of the whole fleet each time. */
let seen: { readonly looks: number; readonly absent: number };

beforeEach(async () => {
  fresh = await freshDatabase();
  clock = await RecordClock.of(fresh);
  store = await PostgresEventStore.connect({ connectionString: fresh.url, deadlineMs: 60_000 });
  readModels = openReadModels({ connectionString: fresh.url, connections: 6 });
  projector = null;
  seen = { looks: 0, absent: 0 };
  startProjector();
  fleet = await ClockedFleet.of({ store, clock, owner: 'ada', size: SIZE, keepUp });
  await fleet.live(120);
});
afterEach(async () => {
  await stopProjector();
  await Promise.all([readModels.destroy(), store.close(), clock[Symbol.asyncDispose]()]);
  await fresh.drop();
});

/** What a projector runs of silence: it looks again and again, while it catches up as well. */
const startProjector = (): void => {
  projector = new Lifetime();
  const watch = new AbsenceWatch({ database: readModels, store, log: QUIET, sweepEvery: 20 });
  for (const model of MODELS) {
    const follower = new Follower({ database: readModels, store, model, log: QUIET, lookEvery: 5, batchesAtOnce: 3 });
    projector.run((signal) => follower.run(signal));
  }
  projector.run((signal) => watch.run(signal));
};
const stopProjector = async (): Promise<void> => {
  await projector?.end();
  projector = null;
};

const keepUp = async (): Promise<void> => {
  await look();
  if (projector === null) return;
  await eventually('what is recorded is applied', async () => {
    await look();
    const { number } = await store.newest();
    const places = await readModels.selectFrom('read_model').selectAll().execute();
    return MODELS.every(({ name }) =>
      places.some((place) => place.name === name && BigInt(place.checkpoint) === number),
    );
  });
};

const look = async (): Promise<void> => {
  const { machines } = await new MachineQueries(readModels, store).list({ presence: 'absent' });
  seen = { looks: seen.looks + 1, absent: seen.absent + machines.length };
};

/** Nobody was absent in any list, and no absence is recorded. */
const expectNobodyAbsent = async (): Promise<void> => {
  expect(seen.looks).toBeGreaterThan(20);
  expect(seen.absent).toBe(0);
  await using owner = await Owner.connect(fresh.ownerUrl);
  expect(await owner.value(`select count(*)::integer from event where type in ('WentAbsent', 'Returned')`)).toBe(0);
  // The watch was at work: everybody was looked at since, and will be again.
  expect(await owner.value('select count(*)::integer from absence_due')).toBe(SIZE);
};

const notObserved = async () => {
  const history = await new HistoryQueries(readModels, store).of(fleet.id(0));
  return history?.entries.filter(({ kind }) => kind === 'not-observed') ?? [];
};

describe('nobody who checks in is ever absent (B1)', () => {
  it('where the projector alone stands still for ten minutes', async () => {
    await stopProjector();
    await fleet.live(600);
    startProjector();
    await keepUp();
    await fleet.live(150);
    await expectNobodyAbsent();
    expect(await notObserved()).toEqual([]);
  });

  it('where the plane was deaf for ten minutes and the projector is up first; the time shows as not observed', async () => {
    await stopProjector();
    await clock.pass(600);
    startProjector();
    await keepUp();
    await look();
    await fleet.live(150);
    await expectNobodyAbsent();
    expect(await notObserved()).toEqual([
      expect.objectContaining({
        sentence: expect.stringMatching(/^not observed: the plane was not listening for 10 min/),
      }),
    ]);
  });

  it('where two instances of the machine API are restarted in turn, again and again', async () => {
    const half = SIZE / 2;
    for (let round = 0; round < 6; round += 1) {
      // Who was at the one that is away comes to the other one an interval later; and for a moment neither is there, too short for a gap.
      for (const from of [0, half]) {
        fleet.silence(from, from + half);
        await fleet.live(12);
        fleet.silence(from, from + half, false);
        await clock.pass(8);
      }
      await fleet.live(30);
    }
    await fleet.live(150);
    await expectNobodyAbsent();
    expect(await notObserved()).toEqual([]);
  });

  it('where the wall clock goes an hour forward, an hour back, and back and forth', async () => {
    for (const step of [HOUR, -HOUR, HOUR, -2 * HOUR, 30, -30, 2 * HOUR]) {
      await clock.pass(step);
      await fleet.live(60);
    }
    await fleet.live(150);
    await expectNobodyAbsent();
  });
});
