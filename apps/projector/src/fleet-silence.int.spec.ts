import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { Lifetime } from '@rollcall/lifetimes';
import {
  absenceModel,
  AbsenceWatch,
  Follower,
  historyModel,
  openReadModels,
  presenceModel,
  RecordFollower,
  type Followed,
  type ReadModelDatabase,
} from '@rollcall/read-models';
import { webhookEndpoint, webhookStream, type Subscribable } from '@rollcall/webhook-endpoint';
import {
  EndpointNotices,
  openWebhooks,
  WebhookQueue,
  type NoticePlace,
  type WebhookDatabase,
} from '@rollcall/webhooks';
import { amount, inDigits } from '../../../test/support/amount.js';
import { ClockedFleet } from '../../../test/support/clocked-fleet.js';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { RecordClock } from '../../../test/support/record-clock.js';

/** A fleet, how many of it fall silent together, and how many, all of those among them, stand in the same rack. */
const FLEET = amount({
  usual: { machines: 300, silent: 90, inTheRack: 93 },
  whole: { machines: 1_000, silent: 300, inTheRack: 310 },
});
const FOLLOWED = [presenceModel.name, absenceModel.name];
const QUIET = { info: () => undefined, warn: () => undefined };

let fresh: FreshDatabase;
let store: PostgresEventStore;
let readModels: ReadModelDatabase;
let database: WebhookDatabase;
let queue: WebhookQueue;
let loops: Lifetime;
let clock: RecordClock;
let watch: AbsenceWatch;

beforeEach(async () => {
  fresh = await freshDatabase();
  clock = await RecordClock.of(fresh);
  const connection = { connectionString: fresh.url, applicationName: 'test' };
  store = await PostgresEventStore.connect({ ...connection, deadlineMs: 60_000 });
  readModels = openReadModels({ connectionString: fresh.url, connections: 6 });
  database = openWebhooks({ ...connection, connections: 6 });
  queue = await WebhookQueue.open({ ...connection, looksAfter: false });
  loops = new Lifetime();
  for (const model of [presenceModel, absenceModel])
    loops.run((signal) => new Follower({ database: readModels, store, model, log: QUIET, lookEvery: 5 }).run(signal));
  watch = new AbsenceWatch({ database: readModels, store, log: QUIET });
});
afterEach(async () => {
  await loops.end();
  await Promise.all([
    queue.close(),
    database.destroy(),
    readModels.destroy(),
    store.close(),
    clock[Symbol.asyncDispose](),
  ]);
  await fresh.drop();
});

/** One that looks for notices. It may be made to fail between what it has written and the commit. */
const noticing = (reached: () => void = () => undefined): void =>
  look(new EndpointNotices({ database, queue, log: QUIET }), reached);

/** One that stands still, from when it is told to, with what it is about to apply in its hands; it goes on with that when it is told to. */
const stoppable = () => {
  const notices = new EndpointNotices({ database, queue, log: QUIET });
  const [stop, goOn] = [new AbortController(), new AbortController()];
  const late: (NoticePlace | null)[] = [];
  let stopped = 0;
  look({
    name: notices.name,
    look: (record) => notices.look(record),
    async apply(place, batches, reached) {
      if (!stop.signal.aborted || goOn.signal.aborted) return notices.apply(place, batches, reached);
      stopped += 1;
      await once(goOn.signal, 'abort');
      const applied = await notices.apply(place, batches, reached);
      late.push(applied);
      return applied;
    },
  });
  return { stop: () => stop.abort(), goOn: () => goOn.abort(), isStopped: () => stopped > 0, late };
};

const look = (followed: Followed<NoticePlace>, reached: () => void = () => undefined): void => {
  const follower = new RecordFollower<NoticePlace>({
    followed,
    store,
    log: QUIET,
    lookEvery: 5,
    reached: (step) => step === 'applied' && reached(),
  });
  loops.run((signal) => follower.run(signal));
};

/** All that follows the record has applied it, as far as it follows. */
const caughtUp = (withNotices = true) =>
  eventually('what is recorded is applied', async () => {
    const { number } = await store.newest();
    const models = await readModels
      .selectFrom('read_model')
      .select('checkpoint')
      .where('name', 'in', FOLLOWED)
      .execute();
    const { number: noticed } = await database.selectFrom('webhook_cursor').select('number').executeTakeFirstOrThrow();
    const reached = [...models.map(({ checkpoint }) => checkpoint), ...(withNotices ? [noticed] : [])];
    return reached.every((at) => BigInt(at) === number);
  });

const fleetOf = (owner: string, size: number) => ClockedFleet.of({ store, clock, owner, size, keepUp });

/** Lets all loops keep up with the record. */
const keepUp = async (withNotices = true): Promise<void> => {
  await caughtUp(withNotices);
  while ((await watch.sweep()) > 0);
  await caughtUp(withNotices);
};

const endpointOf = async (owner: string, ...events: readonly Subscribable[]): Promise<string> => {
  const id = randomUUID();
  const command = {
    type: 'AddWebhookEndpoint',
    owner,
    host: 'hooks.example.org',
    events,
    promisedOnly: false,
  } as const;
  await store.decide(webhookEndpoint, { stream: webhookStream(id) }, command, { actor: { kind: 'person', id: owner } });
  return id;
};

type Told = { readonly type: string; readonly data: { readonly [field: string]: unknown } };
const toldTo = async (endpoint: string): Promise<readonly Told[]> => {
  const rows = await database
    .selectFrom('webhook_delivery')
    .select('body')
    .where('endpoint', '=', endpoint)
    .orderBy('occurred_at')
    .orderBy('sequence')
    .execute();
  return rows.map(({ body }) => JSON.parse(body) as Told);
};
const typesToldTo = async (endpoint: string) => (await toldTo(endpoint)).map(({ type }) => type).sort();

describe(`a fleet of ${inDigits(FLEET.machines)} machines`, () => {
  it(`of which ${FLEET.silent} fall silent together is told as one silence with what they have in common, and one digest (B4)`, async () => {
    const { machines, silent, inTheRack } = FLEET;
    const fleet = await fleetOf('ada', machines);
    await fleet.label(0, inTheRack, 'b7');
    await fleet.label(inTheRack, machines, 'c1');
    const endpoint = await endpointOf('ada', 'machine.absent', 'machine.returned', 'machine.deleted');
    const fleetOnly = await endpointOf('ada', 'fleet.silence');
    const returnsOnly = await endpointOf('ada', 'machine.returned');
    const removed = await endpointOf('ada', 'machine.absent');
    const stranger = await endpointOf('eve', 'machine.absent', 'fleet.silence');
    // Four instances, of which one fails again and again in the middle of what it does, and one is stopped in the middle of the burst.
    let failures = 0;
    const halting = stoppable();
    noticing();
    noticing();
    noticing(() => {
      failures += 1;
      throw new Error('It is stopped in the middle');
    });
    await fleet.live(60);
    fleet.silence(0, silent);
    await fleet.live(126);
    expect(await typesToldTo(endpoint)).toEqual(['fleet.silence']);
    halting.stop();
    // All are absent by now; some come back before the digest, and one is deleted.
    await fleet.live(30);
    expect(halting.isStopped()).toBe(true);
    expect(watch.status().recorded).toBe(silent);
    fleet.silence(0, 12, false);
    await fleet.delete(12);
    await store.decide(
      webhookEndpoint,
      { stream: webhookStream(removed) },
      { type: 'RemoveWebhookEndpoint' },
      { actor: { kind: 'person', id: 'ada' } },
    );
    await fleet.live(90);
    expect(await typesToldTo(endpoint)).toEqual(['fleet.silence', 'fleet.silence', 'machine.deleted']);

    const [began, ended, ...more] = await toldTo(fleetOnly);
    expect(more).toEqual([]);
    expect(began).toMatchObject({
      data: {
        phase: 'began',
        silent,
        of: machines,
        common: { attribute: 'label rack', value: 'b7', silent, of: inTheRack },
      },
    });
    expect(ended).toMatchObject({ data: { phase: 'ended', absent: silent - 13, silence: began!.data['silence'] } });
    expect(ended!.data['machines']).toHaveLength(30);
    expect((await toldTo(endpoint)).filter(({ type }) => type === 'fleet.silence')).toEqual([began, ended]);
    expect(await toldTo(stranger)).toEqual([]);
    // Nothing was held back from it, so it is told of the twelve that came back before the digest.
    expect(await typesToldTo(returnsOnly)).toEqual(Array.from({ length: 12 }, () => 'machine.returned'));
    expect((await toldTo(removed)).filter(({ data }) => data['phase'] === 'ended')).toEqual([]);
    expect(failures).toBeGreaterThan(0);
    // Where it stood is long gone, so what it goes on with changes nothing.
    halting.goOn();
    await eventually('it goes on', () => Promise.resolve(halting.late.length > 0));
    expect(halting.late).toEqual([null]);

    // What comes back after the digest was told of, so its return is told; and a silence of one machine is one of its own.
    fleet.silence(20, 22, false);
    fleet.silence(machines - 100, machines - 99);
    await fleet.live(156);
    expect(await typesToldTo(endpoint)).toEqual([
      'fleet.silence',
      'fleet.silence',
      'machine.absent',
      'machine.deleted',
      'machine.returned',
      'machine.returned',
    ]);
  }, 90_000);

  it('of which nine fall silent together is told of each, also where they are more than a fifth of it (B4)', async () => {
    const fleet = await fleetOf('ada', 40);
    const endpoint = await endpointOf('ada', 'machine.absent', 'fleet.silence');
    noticing();
    await fleet.live(30);
    fleet.silence(0, 9);
    await fleet.live(156);
    const told = await toldTo(endpoint);
    expect(new Set(told.map(({ data }) => data['machine']))).toEqual(
      new Set(Array.from({ length: 9 }, (_, n) => fleet.id(n))),
    );
    expect(told).toHaveLength(9);
  }, 60_000);
});

describe('a silence of many', () => {
  it('that a digest has told of does not count again, however little time has passed since (B4)', async () => {
    const fleet = await fleetOf('ada', 40);
    const endpoint = await endpointOf('ada', 'machine.absent');
    noticing();
    await fleet.live(30);
    fleet.silence(0, 30);
    await fleet.live(108);
    // It goes absent moments after the digest, when twelve of the others have been so for less than a window.
    fleet.silence(37, 38);
    await fleet.live(126);
    expect(await typesToldTo(endpoint)).toEqual(['fleet.silence', 'fleet.silence', 'machine.absent']);
  }, 60_000);

  it('is told as one also where it is noticed when it is over (B4)', async () => {
    loops.run((signal) =>
      new Follower({ database: readModels, store, model: historyModel, log: QUIET, lookEvery: 5 }).run(signal),
    );
    const fleet = await ClockedFleet.of({ store, clock, owner: 'ada', size: 40, keepUp: () => keepUp(false) });
    const endpoint = await endpointOf('ada', 'machine.absent', 'machine.returned');
    await fleet.live(30);
    fleet.silence(0, 20);
    await fleet.live(156);
    fleet.silence(0, 20, false);
    await fleet.live(36);
    await eventually('the history is written', async () => {
      const { checkpoint } = await readModels
        .selectFrom('read_model')
        .select('checkpoint')
        .where('name', '=', historyModel.name)
        .executeTakeFirstOrThrow();
      return BigInt(checkpoint) === (await store.newest()).number;
    });
    noticing();
    await caughtUp();
    expect(await toldTo(endpoint)).toMatchObject([{ data: { phase: 'began', silent: 20, of: 40 } }]);
  }, 60_000);
});

describe('a fleet of which many are quiet for a reason', () => {
  it('is told of each machine that dies beside many that had said that they would stop (B4, O23)', async () => {
    const fleet = await fleetOf('ada', 40);
    const endpoint = await endpointOf('ada', 'machine.absent', 'fleet.silence');
    noticing();
    await fleet.live(30);
    await fleet.stop(0, 15);
    fleet.silence(15, 17);
    await fleet.live(156);
    expect(await typesToldTo(endpoint)).toEqual(['machine.absent', 'machine.absent']);
  }, 60_000);

  it('is told of each where they cannot be counted in time: notices wait for no count (B4)', async () => {
    const fleet = await ClockedFleet.of({ store, clock, owner: 'ada', size: 40, keepUp: () => keepUp(false) });
    const endpoint = await endpointOf('ada', 'machine.absent', 'fleet.silence');
    await fleet.live(30);
    fleet.silence(0, 20);
    await fleet.live(156);
    await using owner = await Owner.connect(fresh.ownerUrl);
    await owner.rows('begin; lock table presence_machine in access exclusive mode');
    noticing();
    await eventually('they are told', async () => (await toldTo(endpoint)).length === 20);
    await owner.rows('rollback');
    await caughtUp();
    expect(new Set(await typesToldTo(endpoint))).toEqual(new Set(['machine.absent']));
  }, 60_000);

  it('is told of one that dies while others, with longer intervals, had no reason to check in since the plane was deaf (B4, B1)', async () => {
    const rare = await ClockedFleet.of({ store, clock, owner: 'ada', size: 15, interval: 300, keepUp });
    const frequent = await fleetOf('ada', 1);
    const endpoint = await endpointOf('ada', 'machine.absent', 'fleet.silence');
    noticing();
    rare.silence(0, 15);
    frequent.silence(0, 1);
    await clock.pass(600);
    await store.mark(0);
    await frequent.live(132);
    expect(await typesToldTo(endpoint)).toEqual(['machine.absent']);
  }, 60_000);
});
