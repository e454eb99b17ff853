import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { renewEpoch, PostgresEventStore } from '@rollcall/event-store-postgres';
import {
  refusals,
  refusalsStream,
  credentialKey,
  machine,
  machineStream,
  type MachineCommand,
} from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';
import {
  Follower,
  openReadModels,
  READ_MODELS,
  ReadModelQueries,
  RecordFollower,
  type FollowStep,
} from '@rollcall/read-models';
import { randomFrom } from '@rollcall/read-models/testing';
import {
  webhookEndpoint,
  webhookStream,
  type Subscribable,
  type WebhookEndpointCommand,
} from '@rollcall/webhook-endpoint';
import {
  EndpointNotices,
  openWebhooks,
  WebhookQueue,
  type NoticePlace,
  type WebhookDatabase,
} from '@rollcall/webhooks';
import { sql } from 'kysely';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';

const EVERYTHING: readonly Subscribable[] = [
  'machine.absent',
  'machine.stopped',
  'machine.returned',
  'machine.blocked',
  'machine.admitted',
  'machine.deleted',
  'credential.rotated',
  'credential.refused',
];
const actor = { kind: 'person', id: 'test' } as const;

let fresh: FreshDatabase;
let store: PostgresEventStore;
let database: WebhookDatabase;
let queue: WebhookQueue;

beforeAll(async () => {
  fresh = await freshDatabase();
  const connection = { connectionString: fresh.url, applicationName: 'test' };
  store = await PostgresEventStore.connect(connection);
  database = openWebhooks(connection);
  queue = await WebhookQueue.open({ ...connection, looksAfter: false });
});
afterAll(async () => {
  await Promise.all([queue.close(), database.destroy(), store.close()]);
  await fresh.drop();
});
beforeEach(async () => {
  await database.deleteFrom('webhook_delivery').execute();
  await database.deleteFrom('webhook_endpoint').execute();
  await queue.boss.deleteAllJobs('webhook-first');
});

const add = async (owner: string, events = EVERYTHING): Promise<string> => {
  const id = randomUUID();
  await ask(id, { type: 'AddWebhookEndpoint', owner, host: 'hooks.example.org', events, promisedOnly: false });
  return id;
};
const ask = (endpoint: string, command: WebhookEndpointCommand) =>
  store.decide(webhookEndpoint, { stream: webhookStream(endpoint) }, command, { actor });

/** A machine of somebody, and what happens to it. */
class TestMachine {
  readonly id = randomUUID();
  readonly #keys = [this.id.replaceAll('-', '').padEnd(64, '0')];
  #sequence = 0;

  static async of(owner: string): Promise<TestMachine> {
    const joined = new TestMachine();
    const token = { id: randomUUID(), expiresAt: Date.now() + 3_600_000, owner, name: 'box' };
    await joined.#decide(admit({ machineId: joined.id, keyHash: joined.#keys[0]!, identifierHash: joined.id, token }));
    return joined;
  }

  async check(said: Partial<Parameters<typeof check>[0]> = {}): Promise<void> {
    const keyHash = this.#keys[0]!;
    this.#sequence += 1;
    const command = check({ keyHash, sequence: this.#sequence, checkId: randomUUID(), ...said });
    await store.decide(machine, { claim: credentialKey(keyHash) }, command, { actor, commandId: null });
  }

  async rotate(): Promise<void> {
    const [keyHash] = this.#keys as [string];
    const nextKeyHash = randomUUID().replaceAll('-', '').padEnd(64, '1');
    await store.decide(
      machine,
      { claim: credentialKey(keyHash) },
      { type: 'StartRotation', keyHash, nextKeyHash },
      { actor },
    );
    this.#keys.unshift(nextKeyHash);
    await this.check();
  }

  /** So long that its window is over. */
  silence(): Promise<void> {
    return this.#decide({ type: 'NoteSilence', heardUntil: Date.now() + 86_400_000, gapEnd: null });
  }

  async refused(): Promise<void> {
    const refused = {
      code: 'credential-revoked',
      generation: 1,
      keyHash: this.#keys[0]!,
      lastAcceptedAt: null,
    } as const;
    await store.decide(
      refusals,
      { stream: refusalsStream(this.id) },
      { type: 'NoteRefusal', machine: this.id, ...refused },
      { actor },
    );
  }

  delete(): Promise<void> {
    return this.#decide({ type: 'DeleteMachine' });
  }

  async #decide(command: MachineCommand): Promise<void> {
    await store.decide(machine, { stream: machineStream(this.id) }, command, { actor });
  }
}

/** One that looks for notices, until it is disposed of. */
const follow = (options: { readonly batchesAtOnce?: number; readonly reached?: (step: FollowStep) => void } = {}) => {
  const over = new AbortController();
  const warned: string[] = [];
  const log = { info: () => undefined, warn: (_: object, message: string) => void warned.push(message) };
  const followed = new EndpointNotices({ database, queue, log });
  const follower = new RecordFollower<NoticePlace>({ followed, store, log, lookEvery: 20, ...options });
  const running = follower.run(over.signal);
  const stop = async (): Promise<void> => {
    over.abort();
    await running;
  };
  return { follower, warned, stop, [Symbol.asyncDispose]: stop };
};

const caughtUp = () =>
  eventually('all of the record was looked through', async () => {
    const { number } = await database.selectFrom('webhook_cursor').select('number').executeTakeFirstOrThrow();
    return BigInt(number) === (await store.newest()).number;
  });

const lookThrough = async (): Promise<void> => {
  await using _ = follow();
  await caughtUp();
};

const told = (endpoint: string) =>
  database
    .selectFrom('webhook_delivery')
    .select(['type', 'machine', 'event_id as eventId', 'sequence', 'body'])
    .where('endpoint', '=', endpoint)
    .orderBy('occurred_at')
    .orderBy('sequence')
    .execute();
const typesTold = async (endpoint: string) => (await told(endpoint)).map(({ type }) => type);
const turns = async () => (await queue.boss.findJobs('webhook-first', { queued: true })).length;

describe('who is told what', () => {
  it('is told what it asked for, of the machines of its owner, from its own beginning on (U1, U5)', async () => {
    const old = await TestMachine.of('ada');
    await old.check();
    await old.silence();
    const [all, some, eves] = [await add('ada'), await add('ada', ['machine.returned']), await add('eve')];
    await old.check();
    const box = await TestMachine.of('ada');
    await box.check({ blockers: ['disk-full'] });
    await box.check({ blockers: ['clock-wrong', 'disk-full'] });
    await box.rotate();
    await box.silence();
    await box.check({ said: 'stopping', reason: 'update' });
    await box.silence();
    await box.delete();
    await box.refused();
    await TestMachine.of('eve');
    await lookThrough();
    expect(await typesTold(all)).toEqual([
      'machine.returned',
      'machine.admitted',
      'machine.blocked',
      'credential.rotated',
      'machine.absent',
      'machine.returned',
      'machine.stopped',
      'machine.deleted',
      'credential.refused',
    ]);
    expect(await typesTold(some)).toEqual(['machine.returned', 'machine.returned']);
    expect(await typesTold(eves)).toEqual(['machine.admitted']);
    expect(await turns()).toBe(12);
    const [first, second] = await told(all);
    expect([first?.machine, second?.machine]).toEqual([old.id, box.id]);
    expect(JSON.parse(second?.body ?? '')).toMatchObject({ type: 'machine.admitted', data: { name: 'box' } });
  });

  it('is told of a stop by its reason, and of the return without a word of the stop (C18, O23)', async () => {
    const endpoint = await add('ada');
    const box = await TestMachine.of('ada');
    await box.check({ said: 'stopping', reason: 'update' });
    await box.silence();
    await box.check();
    await box.silence();
    await lookThrough();
    const [, stopped, returned, absent, ...more] = (await told(endpoint)).map(({ body }) => body);
    expect(more).toEqual([]);
    expect(JSON.parse(stopped!)).toMatchObject({ type: 'machine.stopped', data: { reason: 'update' } });
    expect(JSON.parse(returned!)).toMatchObject({ type: 'machine.returned', data: { machine: box.id } });
    // Nor does the next silence know of it any more.
    expect(JSON.parse(absent!)).toMatchObject({ type: 'machine.absent' });
    expect(`${returned} ${absent}`).not.toMatch(/update|stop/);
  });

  it('is tested, paused, resumed, sent to again and removed as its events say (U5, U6)', async () => {
    const id = await add('ada', ['machine.deleted']);
    const row = () =>
      database.selectFrom('webhook_endpoint').selectAll().where('endpoint', '=', id).executeTakeFirstOrThrow();
    await ask(id, { type: 'TestWebhookEndpoint' });
    await lookThrough();
    expect(await told(id)).toMatchObject([{ type: 'webhook.test', machine: null }]);
    expect(await row()).toMatchObject({ owner: 'ada', host: 'hooks.example.org', events: ['machine.deleted'] });

    await database.updateTable('webhook_endpoint').set({ paused_at: new Date(), pause_reason: 'failing' }).execute();
    await ask(id, { type: 'PauseWebhookEndpoint' });
    await (await TestMachine.of('ada')).delete();
    await lookThrough();
    expect(await row()).toMatchObject({ pause_reason: 'person', probe_at: null });
    expect(await typesTold(id)).toEqual(['webhook.test', 'machine.deleted']);
    await queue.boss.deleteAllJobs('webhook-first');
    await ask(id, { type: 'ResumeWebhookEndpoint' });
    await lookThrough();
    expect(await row()).toMatchObject({ paused_at: null, pause_reason: null, failures: 0 });
    expect(await turns()).toBe(2);

    await database.updateTable('webhook_delivery').set({ state: 'delivered', attempts: 1 }).execute();
    const [, gone] = await told(id);
    await ask(id, { type: 'ReplayWebhookDeliveries', eventId: gone!.eventId });
    await ask(id, { type: 'ReplayWebhookDeliveries', eventId: 'no id at all' });
    await lookThrough();
    const states = () => database.selectFrom('webhook_delivery').select(['type', 'state']).orderBy('type').execute();
    expect(await states()).toEqual([
      { type: 'machine.deleted', state: 'waiting' },
      { type: 'webhook.test', state: 'delivered' },
    ]);
    const aWeek = { from: '2000-01-01T00:00:00.000Z', to: '2999-01-01T00:00:00.000Z' };
    await ask(id, { type: 'ReplayWebhookDeliveries', ...aWeek, types: ['webhook.test'] });
    await lookThrough();
    expect((await states()).map(({ state }) => state)).toEqual(['waiting', 'waiting']);

    await ask(id, { type: 'RemoveWebhookEndpoint' });
    await (await TestMachine.of('ada')).delete();
    await lookThrough();
    expect(await row()).toMatchObject({ removed_at: expect.any(Date) });
    expect(await typesTold(id)).toHaveLength(2);
    expect(await database.selectFrom('webhook_delivery').select('state').distinct().execute()).toEqual([
      { state: 'failed' },
    ]);
  });
});

describe('nothing is told twice, and nothing is forgotten', () => {
  /** Random lives of machines of three owners; some endpoints are there from the start, and some come while it goes on. */
  const live = async (seed: number, commands: number): Promise<void> => {
    const random = randomFrom(seed);
    const owners = ['ada', 'bob', 'eve'];
    const fleet: { of: TestMachine; gone: boolean }[] = [];
    for (let step = 0; step < commands; step += 1) {
      const living = fleet.filter(({ gone }) => !gone);
      if (random.below(12) === 0) await add(random.pick(owners));
      if (living.length < 6) fleet.push({ of: await TestMachine.of(random.pick(owners)), gone: false });
      else {
        const one = random.pick(living);
        const dice = random.below(10);
        if (dice === 0) {
          await one.of.delete();
          one.gone = true;
        } else if (dice < 4) await one.of.silence();
        else await one.of.check({ said: 'running' });
      }
    }
  };

  /** What the record says should have been told: one line for each endpoint and event. Only of types that need no memory but the owner. */
  const expected = async (): Promise<string[]> => {
    const { rows } = await sql<{ line: string }>`
      select added.stream || ' ' || told.event_id as line
      from event told
      join event admission on admission.stream = told.stream and admission.type = 'MachineAdmitted'
      join event added on added.type = 'WebhookEndpointAdded' and added.batch < told.batch
        and added.body::jsonb ->> 'owner' = admission.body::jsonb ->> 'owner'
      join webhook_endpoint endpoint on added.stream = 'webhook-' || endpoint.endpoint
      where told.type in ('MachineAdmitted', 'WentAbsent', 'Returned', 'MachineDeleted')`.execute(database);
    return rows.map(({ line }) => line).toSorted();
  };
  const actual = async (): Promise<string[]> => {
    const rows = await database.selectFrom('webhook_delivery').select(['endpoint', 'event_id']).execute();
    return rows.map(({ endpoint, event_id: event }) => `webhook-${endpoint} ${event}`).toSorted();
  };
  const asItShould = async (): Promise<void> => {
    await caughtUp();
    const lines = await actual();
    expect(lines).toEqual(await expected());
    expect(lines.length).toBeGreaterThan(20);
    expect(await turns()).toBe(lines.length);
  };

  it('whoever dies at which step (U5)', async () => {
    const random = randomFrom(5);
    const deaths: FollowStep[] = [];
    const deadly = (step: FollowStep): void => {
      if (random.below(3) > 0 || deaths.length >= 24) return;
      deaths.push(step);
      throw new Error(`died after ${step}`);
    };
    const living = live(1, 120);
    // A pause of its own would cost time and show nothing more, so each death is a new instance.
    for (let life = 0; life < 200 && deaths.length < 24; life += 1) {
      await using following = follow({ batchesAtOnce: 1 + random.below(4), reached: deadly });
      await eventually('dead or at the end', async () => {
        const { number } = await database.selectFrom('webhook_cursor').select('number').executeTakeFirstOrThrow();
        return following.follower.status().failure !== null || BigInt(number) === (await store.newest()).number;
      });
    }
    await living;
    await lookThrough();
    expect(new Set(deaths)).toEqual(new Set(['applied', 'committed']));
    await asItShould();
  });

  it('whether one looks or two (U5, C27)', async () => {
    await using one = follow({ batchesAtOnce: 1 });
    await using other = follow({ batchesAtOnce: 3 });
    await live(2, 120);
    await asItShould();
    const applied = [one, other].map(({ follower }) => follower.status().applied.record);
    expect(applied[0]! + applied[1]!).toBeGreaterThan(100);
  });

  it('whoever comes second with the same batches: it changes nothing (U5, C27)', async () => {
    const id = await add('ada', ['machine.admitted']);
    await lookThrough();
    const followed = new EndpointNotices({ database, queue, log: { warn: () => undefined } });
    const { place } = await followed.look(store);
    await TestMachine.of('ada');
    const batches = await store.readBatches(place!.checkpoint, 100);
    const both = await Promise.all([1, 2].map(() => followed.apply(place!, batches, () => undefined)));
    expect(both.filter((next) => next === null)).toHaveLength(1);
    expect(await typesTold(id)).toEqual(['machine.admitted']);
  });

  it('whatever is rebuilt (U5, U7)', async () => {
    const readModels = openReadModels({ connectionString: fresh.url });
    const over = new AbortController();
    const log = { info: () => undefined, warn: () => undefined };
    const followers = READ_MODELS.map(
      (model) => new Follower({ database: readModels, store, model, log, lookEvery: 20 }),
    );
    const running = followers.map((follower) => follower.run(over.signal));
    await using _ = follow();
    await live(3, 100);
    await caughtUp();
    const before = await actual();
    const queries = new ReadModelQueries(readModels, store);
    for (const { name } of READ_MODELS) await queries.requestRebuild(name);
    await eventually('they are rebuilt', async () =>
      (await queries.status()).every(({ lagBatches, rebuilding }) => lagBatches === '0' && !rebuilding),
    );
    over.abort();
    await Promise.all(running);
    await readModels.destroy();
    expect(await actual()).toEqual(before);
    await asItShould();
  });

  it('where the record is of another epoch: it goes on from where it stands, and says so (U5, C24)', async () => {
    await live(4, 60);
    await lookThrough();
    const before = await actual();
    await renewEpoch(fresh.url);
    await using following = follow();
    await caughtUp();
    expect(await actual()).toEqual(before);
    await live(5, 40);
    await asItShould();
    expect(following.warned).toEqual(['the record is of another epoch: webhooks go on from where they stand']);
  });

  it('where the record lost what was looked through: it goes on from the newest batch (U5, C24)', async () => {
    const id = await add('ada', ['machine.admitted']);
    await lookThrough();
    await TestMachine.of('ada');
    const { number } = await store.newest();
    await database
      .updateTable('webhook_cursor')
      .set({ number: String(number + 50n) })
      .execute();
    await using following = follow();
    await caughtUp();
    expect(await typesTold(id)).toEqual([]);
    await TestMachine.of('ada');
    await caughtUp();
    expect(await typesTold(id)).toEqual(['machine.admitted']);
    expect(following.warned).toEqual([
      'the record was restored to before what was looked through: webhooks go on from its newest batch, and send nothing that is past',
    ]);
  });
});
