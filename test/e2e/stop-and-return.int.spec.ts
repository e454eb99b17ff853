import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { EXIT, run } from '@rollcall/cli';
import { captured } from '@rollcall/cli/testing';
import { InMemoryAttempts } from '@rollcall/attempts/testing';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { ensureFirstPerson, issueSignInLink, signInAddress } from '@rollcall/first-person';
import { Lifetime } from '@rollcall/lifetimes';
import { InMemoryLogTails } from '@rollcall/log-tails/testing';
import { credentialKey, machine, machineStream, type AcceptCheck } from '@rollcall/machine';
import { admit, boot, check, keyHash, MACHINE_ID } from '@rollcall/machine/testing';
import { createLogger, startHttpsApp } from '@rollcall/nest-platform';
import { MachineApiLocation, OperatorApiModule, WebhookAccess } from '@rollcall/operator-api';
import { openWebhooks, SystemResolver, WebhookSecrets } from '@rollcall/webhooks';
import { openTls } from '@rollcall/plane-ca';
import { Follower, openReadModels, READ_MODELS, ReadModelQueries, type ReadModelDatabase } from '@rollcall/read-models';
import { dumpTables } from '@rollcall/read-models/testing';
import type { History, MachineDetail, MachineList, Readiness, Why } from '@rollcall/wire';
import { sql } from 'kysely';
import { freshDatabase, type FreshDatabase } from '../support/postgres.js';
import { eventually } from '../support/processes.js';

jest.setTimeout(60_000);

// The record's time is the test's, so a silence of five minutes takes none.
const start = Date.now() - 600_000;
let now = start - 30_000;
const store = new InMemoryEventStore({ now: () => now });

const loops = new Lifetime();
let fresh: FreshDatabase;
let database: ReadModelDatabase;
/** Sees all tables. */
let everything: ReadModelDatabase;
let home: string;
let api: Awaited<ReturnType<typeof startHttpsApp>>;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openReadModels({ connectionString: fresh.url });
  everything = openReadModels({ connectionString: fresh.ownerUrl });
  home = await mkdtemp(join(tmpdir(), 'rollcall-return-'));
  const logger = createLogger({ name: 'test', level: 'silent' });
  for (const model of READ_MODELS) {
    const follower = new Follower({ database, store, model, log: logger, lookEvery: 20 });
    loops.run((signal) => follower.run(signal));
  }
  const tls = await openTls({ directory: join(home, 'ca'), name: 'operator-api', hosts: ['127.0.0.1'] });
  api = await startHttpsApp({
    module: OperatorApiModule.on({
      store,
      readModels: database,
      tails: new InMemoryLogTails(),
      attempts: new InMemoryAttempts(),
      machineApi: new MachineApiLocation('https://127.0.0.1:8443', tls.pins),
      webhooks: new WebhookAccess(
        openWebhooks({ connectionString: fresh.url, applicationName: 'test' }),
        new WebhookSecrets({ key: null, problem: 'there is none' }),
        { resolver: new SystemResolver(), allowed: [] },
      ),
      readiness: [],
    }),
    logger,
    tls,
    host: '127.0.0.1',
    port: 0,
    portVariable: 'none',
  });
  const { personId } = await ensureFirstPerson(store, { name: 'Ada' });
  const { secret } = await issueSignInLink(store, personId);
  await rollcall('login', signInAddress(secret, { operatorApi: api.url, pins: tls.pins }));
  const token = { id: 'token-1', expiresAt: Number.MAX_SAFE_INTEGER, owner: personId, name: 'M1' };
  await store.decide(machine, { stream: machineStream(MACHINE_ID) }, admit({ token }), {
    actor: { kind: 'person', id: personId },
    commandId: randomUUID(),
  });
});
afterAll(async () => {
  await api.close();
  await loops.end();
  await Promise.all([store.close(), database.destroy(), everything.destroy()]);
  await Promise.all([fresh.drop(), rm(home, { recursive: true })]);
});

const rollcall = async (...argv: string[]): Promise<string> => {
  const surroundings = captured({ env: { ROLLCALL_CONFIG_DIR: join(home, 'config') } });
  expect([await run(argv, surroundings), surroundings.printed.err]).toEqual([EXIT.done, expect.any(String)]);
  return surroundings.printed.out;
};
const json = async <Document>(...argv: string[]): Promise<Document> =>
  JSON.parse(await rollcall(...argv, '--json')) as Document;

const says = (said: Partial<AcceptCheck>) =>
  store.decide(machine, { claim: credentialKey(keyHash(1)) }, check(said), {
    actor: { kind: 'machine', id: MACHINE_ID },
    commandId: null,
  });

/** The plane listens until then, in seconds from the goodbye, and the read models hear all of it. */
const listenUntil = async (seconds: number): Promise<void> => {
  while (now < start + seconds * 1_000) {
    now = Math.min(now + 5_000, start + seconds * 1_000);
    await store.mark(1);
  }
  const queries = new ReadModelQueries(database, store);
  await eventually('the read models have heard all', async () =>
    (await queries.status()).every(({ lagBatches, rebuilding }) => lagBatches === '0' && !rebuilding),
  );
};

/** What each surface says of the machine. */
const surfaces = async () => {
  const { machine: shown } = await json<MachineDetail>('machines', 'show', MACHINE_ID);
  const { machines: listed } = await json<MachineList>('machines');
  const { machines: blocked } = await json<MachineList>('machines', '--blocked');
  const { episodes } = await json<Readiness>('readiness', MACHINE_ID);
  const { entries } = await json<History>('history', MACHINE_ID);
  const { asOf: _moves, behind: _ofThisRecord, ...why } = await json<Why>('why', MACHINE_ID);
  expect(why.machine).toEqual(shown);
  return { shown, listed, blocked, episodes, entries, why, told: await rollcall('history', MACHINE_ID) };
};

/** What is answered about a time in the past, in seconds from the goodbye. */
const whyAt = (seconds: number): Promise<Why> =>
  json<Why>('why', MACHINE_ID, '--at', new Date(start + seconds * 1_000).toISOString());

/** A time as a sentence tells it. */
const clock = (seconds: number, of: number): string => {
  const [then, today] = [seconds, of].map((each) => new Date(start + each * 1_000).toISOString());
  const [day, time] = then!.slice(0, 19).split('T');
  return today!.startsWith(day!) ? `${time}Z` : `${day} ${time}Z`;
};

/** The tables that still speak of a stop. The history and the changes do, rightly: they tell what happened, not what is. */
const leftovers = async (): Promise<readonly string[]> => {
  const { rows: tables } = await sql<{ name: string }>`select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'
      and table_name not in ('history_line', 'presence_change')`.execute(everything);
  expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['presence_machine', 'readiness_episode']));
  const speaks = async (name: string): Promise<boolean> => {
    const { rows } = await sql<{
      row: string;
    }>`select to_jsonb(each)::text as row from ${sql.table(name)} each`.execute(everything);
    return rows.some(({ row }) => /"(stopping|stopped|update|StopAnnounced)"/.test(row));
  };
  const found = await Promise.all(tables.map(async ({ name }) => ((await speaks(name)) ? [name] : [])));
  return found.flat();
};

it('a machine that said it stops and comes back is running everywhere, whatever arrives late, and no marker stays (C18, O17, O23)', async () => {
  await says({ sequence: 1, blockers: [] });
  await listenUntil(0);
  const goodbye = { sequence: 2, said: 'stopping', reason: 'update' } as const;
  await says(goodbye);

  await listenUntil(200);
  const gone = { presence: 'absent', lifecycle: 'stopped', stopReason: 'update', canTakeWork: false };
  const at200 = await surfaces();
  expect(at200.shown).toMatchObject({ ...gone, sentence: 'stopped on purpose (update)' });
  expect(at200.listed).toEqual([at200.shown]);
  expect(await leftovers()).toEqual(['presence_machine']);
  expect(at200.why.sentence).toBe(
    `absent since ${clock(120, 200)} (window 120 s after the last check at ${clock(0, 200)}); it had said that it would stop (update), so it is stopped on purpose; the plane was listening throughout`,
  );
  expect(at200.why.basis.map((basis) => ('type' in basis ? basis.type : basis.kind))).toEqual(
    expect.arrayContaining(['MachineAdmitted', 'StopAnnounced', 'check']),
  );

  await listenUntil(300);
  await says({ boot: boot(2), sequence: 1, blockers: [] });
  await listenUntil(302);
  const back = { presence: 'present', lifecycle: 'running', stopReason: null, canTakeWork: true, blockers: [] };
  const at302 = await surfaces();
  expect(at302.shown).toMatchObject({ ...back, sentence: 'present' });
  expect(at302.listed).toEqual([at302.shown]);
  expect(await leftovers()).toEqual([]);
  expect(at302.why.sentence).toBe(
    `present: it checked in at ${clock(300, 302)}, and said that it runs; nothing keeps it from work`,
  );

  now = start + 305_000;
  const facts = await store.readStream(machineStream(MACHINE_ID));
  expect(await says(goodbye)).toMatchObject({ repeated: true, batch: null });
  for (const late of [
    { ...goodbye, checkId: randomUUID() },
    { ...goodbye, sequence: 3, checkId: randomUUID() },
  ])
    await expect(says(late)).rejects.toMatchObject({ code: 'stale-check', details: { highestBoot: 2 } });
  expect(await store.readStream(machineStream(MACHINE_ID))).toEqual(facts);

  await listenUntil(306);
  const at306 = await surfaces();
  expect(at306).toEqual(at302);
  expect(at306).toMatchObject({ blocked: [], episodes: [] });
  expect(at306.entries.map(({ sentence }) => sentence).slice(-4)).toEqual([
    'said it would stop: update',
    'checked in once, stopping',
    'the agent started (start 2)',
    'checked in once',
  ]);
  expect(await leftovers()).toEqual([]);
  const view = await store.view(machine, { stream: machineStream(MACHINE_ID) });
  expect(view?.state.lastWord).toEqual({ said: 'running', reason: null });

  const before = await dumpTables(database);
  for (const { name } of READ_MODELS) await new ReadModelQueries(database, store).requestRebuild(name);
  await listenUntil(306);
  expect(await dumpTables(database)).toBe(before);
  expect(await surfaces()).toEqual(at306);
  expect(await leftovers()).toEqual([]);

  // What it was then is what was said then.
  for (const [seconds, then] of [
    [200, at200],
    [302, at302],
    [306, at306],
  ] as const)
    expect(await whyAt(seconds)).toMatchObject({ ...then.why, machine: then.shown });
  expect(await whyAt(119)).toMatchObject({ machine: { presence: 'present', lifecycle: 'stopping' } });
});
